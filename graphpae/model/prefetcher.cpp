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

const GraphInput& Prefetcher::input(int64_t epoch, int64_t step) {
  const int64_t number = epoch * steps_per_epoch_ + step;
  if (next_.valid() && next_number_ == number) {
    input_ = next_.get();
  } else {
    if (next_.valid()) next_.wait();
    input_ = make_(epoch, step);
  }
  next_ = {};
  next_number_ = number + 1;
  if (next_number_ < epochs_ * steps_per_epoch_) {
    next_ = worker_.run(
        [this, following = next_number_] { return make_(following / steps_per_epoch_, following % steps_per_epoch_); });
  }
  return input_;
}

}  // namespace graphpae
