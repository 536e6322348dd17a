// Kernels: how alike the rows of a block are. A linear kernel is the inner product of rows; a Gaussian one falls with
// their distance, so that a probe can bend its boundaries; min-max is the Tanimoto similarity of counts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"

namespace graphpae {

enum class KernelForm { linear, gaussian, minmax };
const char* name_of(KernelForm form);  // "linear", "gaussian", "minmax"

// One block seen by one kernel, scaled so that rows drawn at random have an inner product of 0 and a squared length of
// 1 after centring, on average: kernels of all blocks can be added.
class Kernel {
 public:
  // `rows` [N,D] as the kernel is to see them. A Gaussian kernel is exp(-d^2 / (width * the mean of d^2)). Throws a
  // data error if min-max is asked for rows with negative values.
  Kernel(std::string block, KernelForm form, std::shared_ptr<const Features> rows, double width = 1);

  const std::string& block() const { return block_; }
  KernelForm form() const { return form_; }
  bool is_constant() const { return constant_; }  // all rows are the same to it
  const Features& rows() const { return *rows_; }

  // [left,right]; the same bits for any number of threads.
  Buffer<float> between(std::span<const int32_t> left, std::span<const int32_t> right, Threads threads) const;
  // Of each row with itself, [ids].
  std::vector<double> with_itself(std::span<const int32_t> ids) const;

 private:
  Buffer<float> unscaled(std::span<const int32_t> left, std::span<const int32_t> right, Threads threads) const;

  std::string block_;
  KernelForm form_;
  std::shared_ptr<const Features> rows_;
  double spread_ = 1;  // of a Gaussian kernel: width times the mean squared distance
  double scale_ = 1;
  bool constant_ = false;
};

// Rows scaled to length one; rows of zeros stay. Sparse rows stay sparse.
Features unit_rows(const Features& rows);
// Columns with mean 0 and deviation 1 over all rows, values farther than five deviations cut, divided by the square
// root of the number of columns. Dense. A value that is the same in all rows becomes 0.
Features standard_columns(const Features& rows);

}  // namespace graphpae
