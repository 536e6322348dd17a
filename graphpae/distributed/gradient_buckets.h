// GradientBuckets: gradients of all processes added up while the backward pass goes on.
//
// Parameters are arranged in buckets in the order in which the backward pass of the first step reached them, that of
// rank 0 for all. A bucket is sent as soon as all of its gradients are there; buckets are sent in the same order
// everywhere.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "graphpae/distributed/processes.h"

namespace graphpae {

class GradientBuckets {
 public:
  GradientBuckets(std::vector<torch::Tensor> parameters, std::shared_ptr<Processes> processes);
  ~GradientBuckets();

  // Call before the last backward pass of a step: from here on a gradient that a parameter receives is its last one.
  // Those of `complete`, numbers of parameters, receive none any more.
  void begin_last_pass(const std::vector<size_t>& complete);
  // Waits until every gradient is the sum over all processes. A parameter that has none in any process has none after.
  void finish();

  // Buckets sent before finish() in the last step; for tests and benchmarks.
  int64_t sent_early() const { return sent_early_; }
  int64_t num_buckets() const { return static_cast<int64_t>(buckets_.size()); }

 private:
  struct Bucket {
    std::vector<size_t> parameters;
    int64_t missing = 0;  // gradients that are not there yet
    torch::Tensor flat;   // gradients one after the other, then a 1 for every parameter that has one
    std::unique_ptr<Processes::Pending> sum;
  };
  void arrange();
  void received(size_t parameter);
  void send(Bucket& bucket);
  void take_back(Bucket& bucket);

  std::vector<torch::Tensor> parameters_;
  std::shared_ptr<Processes> processes_;
  std::vector<std::shared_ptr<void>> watched_;  // keep the hooks of parameters alive
  bool watching_ = false;
  std::vector<size_t> order_;  // parameters as the first step reached them
  std::vector<Bucket> buckets_;
  std::vector<size_t> bucket_of_;  // [parameters]
  std::vector<bool> is_there_;     // [parameters]
  size_t sent_ = 0;
  int64_t sent_early_ = 0;
};

}  // namespace graphpae
