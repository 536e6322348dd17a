#include "graphpae/model/named_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <cstring>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

std::string type_of(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32: return "F32";
    case torch::kFloat64: return "F64";
    case torch::kInt64: return "I64";
    default: throw Error(ErrorKind::internal, "tensor of a type that is not stored");
  }
}

}  // namespace

NamedTensors named_parameters(const torch::nn::Module& module, const std::string& prefix) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace_back(prefix + item.key(), item.value());
  return tensors;
}

NamedTensors named_tensors(const torch::nn::Module& module, const std::string& prefix) {
  NamedTensors tensors = named_parameters(module, prefix);
  for (const auto& item : module.named_buffers()) tensors.emplace_back(prefix + item.key(), item.value());
  return tensors;
}

void append(NamedTensors& tensors, const NamedTensors& more, const std::string& prefix) {
  for (const auto& [name, tensor] : more) tensors.emplace_back(prefix + name, tensor);
}

std::vector<SafeTensorView> views_of(const NamedTensors& tensors) {
  std::vector<SafeTensorView> views;
  for (const auto& [name, tensor] : tensors) {
    TORCH_INTERNAL_ASSERT(tensor.is_contiguous());
    views.push_back({name,
                     type_of(tensor),
                     tensor.sizes().vec(),
                     {static_cast<const char*>(tensor.data_ptr()), static_cast<size_t>(tensor.nbytes())}});
  }
  return views;
}

void copy_from(const SafeTensors& file, const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    const SafeTensorView& stored = file.find(name);
    if (stored.type != type_of(tensor) || stored.shape != tensor.sizes().vec()) {
      throw data_error(fmt::format("{}: tensor '{}' is {} [{}], expected {} [{}]", file.path(), name, stored.type,
                                   fmt::join(stored.shape, ","), type_of(tensor),
                                   fmt::join(tensor.sizes().vec(), ",")));
    }
    std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  }
}

}  // namespace graphpae
