#include "graphpae/model/prefetcher.h"

#include <omp.h>
#include <torch/torch.h>

namespace graphpae {
namespace {

// The thread leaves the processors to those that train. LibTorch sets the number of threads of a thread when it is
// first asked for, so that comes first.
void work_alone() {
  torch::get_num_threads();
  omp_set_num_threads(1);
}

}  // namespace

Prefetcher::Prefetcher(Make make, int64_t steps_per_epoch, int64_t epochs)
    : make_(std::move(make)), steps_per_epoch_(steps_per_epoch), epochs_(epochs), worker_(work_alone) {}

Prefetcher::Step Prefetcher::after(Step step) const {
  return step.step + 1 < steps_per_epoch_ ? Step{step.epoch, step.step + 1} : Step{step.epoch + 1, 0};
}

const GraphInput& Prefetcher::input(int64_t epoch, int64_t step) {
  const Step wanted{epoch, step};
  if (next_.valid() && next_step_ == wanted) {
    input_ = next_.get();
  } else {
    if (next_.valid()) next_.wait();
    input_ = make_(epoch, step);
  }
  next_step_ = after(wanted);
  if (next_step_.epoch < epochs_) {
    next_ = worker_.run([this, following = next_step_] { return make_(following.epoch, following.step); });
  } else {
    next_ = {};
  }
  return input_;
}

}  // namespace graphpae
