#include "graphpae/positions/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

// Symmetric, with `distinct` different eigenvalues in a random basis if distinct > 0, else with random entries.
std::vector<double> symmetric(int64_t n, int64_t distinct, uint64_t seed) {
  const Rng rng(seed, 1);
  Eigen::MatrixXd a(n, n);
  for (int64_t i = 0; i < n * n; ++i) a(i / n, i % n) = rng.normal(i);
  Eigen::MatrixXd s = a + a.transpose();
  if (distinct > 0) {
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(a).householderQ();
    Eigen::VectorXd values(n);
    for (int64_t i = 0; i < n; ++i) values(i) = static_cast<double>(i % distinct) - 1;
    s = q * values.asDiagonal() * q.transpose();
  }
  return {s.data(), s.data() + n * n};
}

TEST(SymmetricEigen, AgreesWithEigenForEverySize) {
  for (const int64_t n : {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 64, 100, 257, 300}) {
    for (const int64_t distinct : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " distinct " << distinct);
      const std::vector<double> matrix = symmetric(n, distinct, static_cast<uint64_t>(n));
      const SymmetricEigen result = symmetric_eigen(matrix, n, Threads{2});
      const Eigen::Map<const Eigen::MatrixXd> a(matrix.data(), n, n), z(result.vectors.data(), n, n);
      const Eigen::Map<const Eigen::VectorXd> values(result.values.data(), n);
      const double size = 1 + a.norm();
      EXPECT_LE((a * z - z * values.asDiagonal()).norm(), 1e-13 * size);
      EXPECT_LE((z.transpose() * z - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-12 * n);
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> reference(a);
      EXPECT_LE((reference.eigenvalues() - values).norm(), 1e-13 * size);
    }
  }
}

TEST(SymmetricEigen, SpecialMatrices) {
  for (const double scale : {0.0, 1.0, 1e-200, 1e150}) {
    const SymmetricEigen result = symmetric_eigen({3 * scale, 0, 0, 0, scale, 0, 0, 0, 2 * scale}, 3);
    EXPECT_EQ(result.values, (std::vector<double>{scale, 2 * scale, 3 * scale}));
  }
  EXPECT_TRUE(symmetric_eigen({}, 0).values.empty());
}

TEST(SymmetricEigen, AnyNumberOfThreadsGivesTheSameBits) {
  const std::vector<double> matrix = symmetric(400, 0, 9);
  const SymmetricEigen one = symmetric_eigen(matrix, 400, Threads{1});
  for (const int count : {2, 3}) {
    const SymmetricEigen several = symmetric_eigen(matrix, 400, Threads{count});
    EXPECT_EQ(one.values, several.values);
    EXPECT_EQ(one.vectors, several.vectors);
  }
}

TEST(SymmetricEigen, RefusesValuesThatAreNotFinite) {
  std::vector<double> matrix = symmetric(20, 0, 1);
  matrix[45] = matrix[2 * 20 + 5] = matrix[5 * 20 + 2] = std::nan("");
  EXPECT_THROW(symmetric_eigen(matrix, 20), Error);
}

}  // namespace
}  // namespace graphpae
