// What an operation keeps from its forward to its backward pass beside the tensors it saves. Tensors that are inputs or
// outputs belong into save_for_backward, never here: they would keep the graph alive.
#pragma once

#include <torch/custom_class.h>
#include <torch/torch.h>

#include <utility>

namespace graphpae::ops {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

template <class T>
struct OpState : torch::CustomClassHolder {
  explicit OpState(T state) : value(std::move(state)) {}
  T value;
};

template <class T>
void keep(AutogradContext* context, T state) {
  context->saved_data["state"] = c10::IValue::make_capsule(c10::make_intrusive<OpState<T>>(std::move(state)));
}

template <class T>
T& kept(AutogradContext* context) {
  return static_cast<OpState<T>*>(context->saved_data["state"].toCapsule().get())->value;
}

inline const float* data(const Tensor& tensor) {
  TORCH_INTERNAL_ASSERT(tensor.is_contiguous() && tensor.scalar_type() == torch::kFloat32);
  return tensor.data_ptr<float>();
}
inline float* data(Tensor& tensor) {
  TORCH_INTERNAL_ASSERT(tensor.is_contiguous() && tensor.scalar_type() == torch::kFloat32);
  return tensor.data_ptr<float>();
}
// The pointer of a tensor that may be undefined or empty.
inline const float* data_or_null(const Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 ? data(tensor) : nullptr;
}

// Arguments of operations must be defined: a tensor that is not there travels as an empty one.
inline Tensor or_empty(const Tensor& tensor) { return tensor.defined() ? tensor : torch::empty({0}, torch::kFloat32); }
inline bool is_there(const Tensor& tensor) { return tensor.numel() > 0; }

inline Tensor empty(at::IntArrayRef shape) { return torch::empty(shape, torch::kFloat32); }

}  // namespace graphpae::ops
