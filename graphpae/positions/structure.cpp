#include "graphpae/positions/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

constexpr int64_t kWalkPanel = 64;     // columns that walk together
constexpr int64_t kWalkVectors = 256;  // of an estimate
constexpr double kExactAdditions = 4e9;
constexpr int64_t kStructureRows = 512;

template <class Body>
void for_nodes(int64_t rows, Threads threads, const Body& body) {
  parallel_tasks(threads, (rows + kStructureRows - 1) / kStructureRows, [&](int64_t task) {
    for (int64_t i = task * kStructureRows; i < std::min(rows, (task + 1) * kStructureRows); ++i) body(i);
  });
}

// 1/sqrt(degree), 0 for a node without neighbours. [N]
std::vector<float> root_scales(const Adjacency& graph) {
  std::vector<float> scales(static_cast<size_t>(graph.num_nodes()));
  for (size_t i = 0; i < scales.size(); ++i) {
    const int64_t degree = graph.degree(static_cast<int64_t>(i));
    scales[i] = degree == 0 ? 0.0f : static_cast<float>(1 / std::sqrt(static_cast<double>(degree)));
  }
  return scales;
}

// 64 random signs as bits.
uint64_t sign_bits(const Rng& rng, int64_t node, int64_t block) {
  return rng.bits(static_cast<uint64_t>(node) * 4096 + static_cast<uint64_t>(block));
}

// out = D^-1/2 A D^-1/2 x, panels [N,kWalkPanel].
void walk_step(const Adjacency& graph, const std::vector<float>& scales, const Buffer<float>& x, Buffer<float>& out,
               Threads threads) {
  for_nodes(graph.num_nodes(), threads, [&](int64_t i) {
    float* to = out.data() + i * kWalkPanel;
    std::fill_n(to, kWalkPanel, 0.0f);
    for (const int32_t j : graph.row(i)) {
      const float* from = x.data() + j * kWalkPanel;
      const float scale = scales[j];
      for (int64_t c = 0; c < kWalkPanel; ++c) to[c] += scale * from[c];
    }
    for (int64_t c = 0; c < kWalkPanel; ++c) to[c] *= scales[i];
  });
}

}  // namespace

Buffer<float> degree_rows(const Adjacency& graph, Threads threads) {
  const int64_t n = graph.num_nodes();
  const auto level = [&](int64_t i) { return std::log1p(static_cast<double>(graph.degree(i))); };
  Buffer<float> rows(static_cast<size_t>(n * 3));
  for_nodes(n, threads, [&](int64_t i) {
    double sum = 0, squares = 0;
    for (const int32_t j : graph.row(i)) {
      sum += level(j);
      squares += level(j) * level(j);
    }
    const double count = static_cast<double>(std::max<int64_t>(graph.degree(i), 1)), mean = sum / count;
    float* row = rows.data() + i * 3;
    row[0] = static_cast<float>(level(i));
    row[1] = static_cast<float>(mean);
    row[2] = static_cast<float>(std::sqrt(std::max(0.0, squares / count - mean * mean)));
  });
  return rows;
}

Buffer<float> walk_rows(const Adjacency& graph, int64_t steps, uint64_t seed, Threads threads) {
  if (steps < 2) throw usage_error(fmt::format("{} steps of a walk, expected at least 2", steps));
  const int64_t n = graph.num_nodes(), columns = steps - 1, products = (steps + 1) / 2;
  const double additions =
      static_cast<double>(n) * static_cast<double>(graph.neighbours().size() + n) * static_cast<double>(products);
  const bool exact = additions <= kExactAdditions;
  const int64_t vectors = exact ? n : kWalkVectors;
  const std::vector<float> scales = root_scales(graph);
  const Rng rng(seed, 1);
  // With S = D^-1/2 A D^-1/2, the probability to be back after a + b steps is the product of rows i of S^a R and S^b R,
  // R the identity or random columns with R R^T near it.
  std::vector<double> back(static_cast<size_t>(n * columns));
  Buffer<float> now(static_cast<size_t>(n * kWalkPanel)), next(now.size());
  for (int64_t first = 0; first < vectors; first += kWalkPanel) {
    const int64_t count = std::min(kWalkPanel, vectors - first);
    std::fill(now.begin(), now.end(), 0.0f);
    if (exact) {
      for (int64_t c = 0; c < count; ++c) now[static_cast<size_t>((first + c) * kWalkPanel + c)] = 1;
    } else {
      const float size = static_cast<float>(1 / std::sqrt(static_cast<double>(vectors)));
      for_nodes(n, threads, [&](int64_t i) {
        const uint64_t bits = sign_bits(rng, i, first / kWalkPanel);
        for (int64_t c = 0; c < kWalkPanel; ++c)
          now[static_cast<size_t>(i * kWalkPanel + c)] = bits >> c & 1 ? size : -size;
      });
    }
    for (int64_t done = 0; done < products; ++done) {
      walk_step(graph, scales, now, next, threads);
      for_nodes(n, threads, [&](int64_t i) {
        const float *a = now.data() + i * kWalkPanel, *b = next.data() + i * kWalkPanel;
        double odd = 0, even = 0;
        for (int64_t c = 0; c < kWalkPanel; ++c) {
          odd += static_cast<double>(a[c]) * b[c];
          even += static_cast<double>(b[c]) * b[c];
        }
        double* row = back.data() + i * columns;
        if (done > 0) row[2 * done - 1] += odd;         // 2 done + 1 steps
        if (2 * done < columns) row[2 * done] += even;  // 2 done + 2 steps
      });
      std::swap(now, next);
    }
  }
  Buffer<float> rows(back.size());
  for (size_t k = 0; k < back.size(); ++k) rows[k] = static_cast<float>(std::log(std::max(back[k], 0.0) + 1e-3));
  return rows;
}

Buffer<float> neighbour_rows(const Adjacency& graph, int64_t columns, uint64_t seed, Threads threads) {
  const int64_t n = graph.num_nodes();
  const std::vector<float> scales = root_scales(graph);
  const Rng rng(seed, 2);
  Buffer<float> rows(static_cast<size_t>(n * columns));
  for_nodes(n, threads, [&](int64_t i) {
    float* row = rows.data() + i * columns;
    std::fill_n(row, columns, 0.0f);
    for (const int32_t j : graph.row(i)) {
      for (int64_t first = 0; first < columns; first += 64) {
        const uint64_t bits = sign_bits(rng, j, first / 64);
        const int64_t count = std::min<int64_t>(64, columns - first);
        for (int64_t c = 0; c < count; ++c) row[first + c] += bits >> c & 1 ? scales[j] : -scales[j];
      }
    }
    double squares = 0;
    for (int64_t c = 0; c < columns; ++c) squares += static_cast<double>(row[c]) * row[c];
    const float scale = squares > 0 ? static_cast<float>(1 / std::sqrt(squares)) : 0.0f;
    for (int64_t c = 0; c < columns; ++c) row[c] *= scale;
  });
  return rows;
}

}  // namespace graphpae
