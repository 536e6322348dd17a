#include "graphpae/train/optimiser.h"

#include <torch/torch.h>

#include <cmath>
#include <numbers>

#include "graphpae/kernels/adam.h"

namespace graphpae {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

}  // namespace

Optimiser::Optimiser(OptimizerKind kind, double weight_decay, NamedTensors parameters, Threads threads)
    : kind_(kind), weight_decay_(weight_decay), threads_(threads) {
  for (auto& [name, parameter] : parameters) {
    Slot slot{name, parameter, {}, {}};
    if (kind != OptimizerKind::sgd) {
      slot.first = torch::zeros_like(parameter).requires_grad_(false);
      slot.second = torch::zeros_like(parameter).requires_grad_(false);
    }
    slots_.push_back(std::move(slot));
  }
}

void Optimiser::step(double lr) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  for (Slot& slot : slots_) {
    if (slot.parameter.grad().defined()) update(slot, lr);
  }
}

void Optimiser::update(Slot& slot, double lr) {
  torch::Tensor& p = slot.parameter;
  torch::Tensor gradient = p.grad();
  if (p.scalar_type() == torch::kFloat32 && p.is_contiguous()) {
    kernels::UpdateOptions options;
    options.rule = kind_ == OptimizerKind::adam    ? kernels::UpdateRule::kAdam
                   : kind_ == OptimizerKind::adamw ? kernels::UpdateRule::kAdamW
                                                   : kernels::UpdateRule::kSgd;
    options.rate = lr;
    options.weight_decay = weight_decay_;
    gradient = gradient.contiguous();
    kernels::update_parameter(options, steps_, gradient.data_ptr<float>(), p.numel(), p.data_ptr<float>(),
                              slot.first.defined() ? slot.first.data_ptr<float>() : nullptr,
                              slot.second.defined() ? slot.second.data_ptr<float>() : nullptr, threads_);
    return;
  }
  if (weight_decay_ != 0) {
    if (kind_ == OptimizerKind::adamw) {
      p.mul_(1 - lr * weight_decay_);
    } else {
      gradient = gradient + weight_decay_ * p;
    }
  }
  if (kind_ == OptimizerKind::sgd) {
    p.add_(gradient, -lr);
    return;
  }
  slot.first.mul_(kBeta1).add_(gradient, 1 - kBeta1);
  slot.second.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const double bias1 = 1 - std::pow(kBeta1, steps_), bias2 = 1 - std::pow(kBeta2, steps_);
  p.addcdiv_(slot.first, slot.second.sqrt().div_(std::sqrt(bias2)).add_(kEpsilon), -lr / bias1);
}

void Optimiser::clear_gradients() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad() = torch::Tensor();
}

NamedTensors Optimiser::state() const {
  NamedTensors state;
  for (const Slot& slot : slots_) {
    if (!slot.first.defined()) continue;
    state.emplace_back(slot.name + ".first", slot.first);
    state.emplace_back(slot.name + ".second", slot.second);
  }
  return state;
}

double learning_rate(const Settings& settings, int64_t epoch) {
  if (epoch < settings.warmup)
    return settings.lr * static_cast<double>(epoch + 1) / static_cast<double>(settings.warmup);
  if (settings.schedule == Schedule::constant) return settings.lr;
  int64_t begin = settings.warmup, end = settings.epochs;  // of the cosine that the epoch is part of
  for (const int64_t restart : settings.restarts) {
    if (restart > epoch) {
      end = restart;
      break;
    }
    begin = restart;
  }
  const double length = static_cast<double>(end - begin);
  const double done = length > 0 ? static_cast<double>(epoch - begin) / length : 0;
  return settings.lr * 0.5 * (1 + std::cos(done * std::numbers::pi));
}

}  // namespace graphpae
