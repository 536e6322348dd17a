#include "graphpae/distributed/gradient_buckets.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>

namespace graphpae {
namespace {

constexpr int64_t kBucketElements = int64_t{1} << 18;  // a megabyte

struct AfterGradient final : torch::autograd::FunctionPostHook {
  explicit AfterGradient(std::function<void()> then) : then_(std::move(then)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    then_();
    return outputs;
  }

 private:
  std::function<void()> then_;
};

}  // namespace

GradientBuckets::GradientBuckets(std::vector<torch::Tensor> parameters, std::shared_ptr<Processes> processes)
    : parameters_(std::move(parameters)), processes_(std::move(processes)), is_there_(parameters_.size()) {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    // What adds up the gradients of the parameter; it lives as long as somebody holds it.
    const auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[p]);
    accumulator->add_post_hook(std::make_unique<AfterGradient>([this, p] { received(p); }));
    watched_.push_back(accumulator);
  }
}

GradientBuckets::~GradientBuckets() {
  for (Bucket& bucket : buckets_) {
    try {
      if (bucket.sum) bucket.sum->wait();
    } catch (const std::exception&) {  // a step that broke off; its error has been thrown
    }
  }
}

void GradientBuckets::begin_last_pass(const std::vector<size_t>& complete) {
  watching_ = true;
  sent_ = 0;
  std::fill(is_there_.begin(), is_there_.end(), false);
  for (Bucket& bucket : buckets_) bucket.missing = static_cast<int64_t>(bucket.parameters.size());
  for (const size_t p : complete) received(p);
}

void GradientBuckets::received(size_t p) {
  if (!watching_ || is_there_[p]) return;
  is_there_[p] = true;
  if (buckets_.empty()) {
    order_.push_back(p);
    return;
  }
  --buckets_[bucket_of_[p]].missing;
  while (sent_ < buckets_.size() && buckets_[sent_].missing == 0) send(buckets_[sent_++]);
}

// In the order of the first step, the rest behind.
void GradientBuckets::arrange() {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (!is_there_[p]) order_.push_back(p);
  }
  const torch::Tensor order = torch::tensor(std::vector<int64_t>(order_.begin(), order_.end()), torch::kInt64);
  processes_->broadcast({order});
  bucket_of_.resize(parameters_.size());
  int64_t elements = kBucketElements;
  for (int64_t k = 0; k < order.size(0); ++k) {
    const auto p = static_cast<size_t>(order.data_ptr<int64_t>()[k]);
    if (elements >= kBucketElements) {
      buckets_.emplace_back();
      elements = 0;
    }
    buckets_.back().parameters.push_back(p);
    bucket_of_[p] = buckets_.size() - 1;
    elements += parameters_[p].numel();
  }
}

void GradientBuckets::send(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  if (!bucket.flat.defined()) {
    int64_t elements = static_cast<int64_t>(bucket.parameters.size());
    for (const size_t p : bucket.parameters) elements += parameters_[p].numel();
    bucket.flat = torch::empty({elements}, torch::kFloat32);
  }
  int64_t place = 0;
  std::vector<float> has;
  for (const size_t p : bucket.parameters) {
    const torch::Tensor gradient = parameters_[p].grad();
    const torch::Tensor to = bucket.flat.narrow(0, place, parameters_[p].numel());
    place += to.numel();
    has.push_back(gradient.defined() ? 1.0f : 0.0f);
    if (gradient.defined()) {
      to.view(gradient.sizes()).copy_(gradient);
    } else {
      to.zero_();
    }
  }
  bucket.flat.narrow(0, place, static_cast<int64_t>(has.size())).copy_(torch::tensor(has));
  bucket.sum = processes_->begin_sum(bucket.flat);
}

void GradientBuckets::take_back(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  bucket.sum->wait();
  bucket.sum.reset();
  int64_t place = 0;
  const float* has =
      bucket.flat.data_ptr<float>() + bucket.flat.numel() - static_cast<int64_t>(bucket.parameters.size());
  for (const size_t p : bucket.parameters) {
    torch::Tensor& parameter = parameters_[p];
    const torch::Tensor sum = bucket.flat.narrow(0, place, parameter.numel()).view(parameter.sizes());
    place += parameter.numel();
    if (*has++ == 0) continue;
    if (parameter.grad().defined()) {
      parameter.mutable_grad().copy_(sum);
    } else {
      parameter.mutable_grad() = sum.clone();
    }
  }
}

void GradientBuckets::finish() {
  watching_ = false;
  if (buckets_.empty()) arrange();
  sent_early_ = static_cast<int64_t>(sent_);
  while (sent_ < buckets_.size()) send(buckets_[sent_++]);
  for (Bucket& bucket : buckets_) take_back(bucket);
  sent_ = 0;
}

}  // namespace graphpae
