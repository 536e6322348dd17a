// Recorded numbers of a released implementation: an .npz file as tensors.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "graphpae/io/npy.h"

namespace graphpae::test {

class Golden {
 public:
  explicit Golden(const std::string& path) : file_(path), names_(file_.names()) {}

  bool has(const std::string& name) const { return file_.has(name); }
  torch::Tensor tensor(const std::string& name) const {
    const NpyArray array = file_.read(name);
    if (array.is_integer()) return torch::tensor(array.to_int64(), torch::kInt64).view(array.shape);
    return torch::tensor(array.to_double(), torch::kFloat64).view(array.shape);
  }
  double number(const std::string& name) const { return tensor(name).item<double>(); }
  // What follows "PREFIX." in the names that start with it.
  std::vector<std::string> under(const std::string& prefix) const {
    std::vector<std::string> found;
    for (const std::string& name : names_) {
      if (name.starts_with(prefix + ".")) found.push_back(name.substr(prefix.size() + 1));
    }
    return found;
  }

 private:
  NpzFile file_;
  std::vector<std::string> names_;
};

inline std::vector<int32_t> to_int32(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.to(torch::kInt32).contiguous();
  return {values.data_ptr<int32_t>(), values.data_ptr<int32_t>() + values.numel()};
}

}  // namespace graphpae::test
