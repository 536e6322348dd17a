#include "graphpae/distributed/processes.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>

#include "graphpae/distributed/gradient_buckets.h"
#include "graphpae/model/modules.h"
#include "graphpae/ops/gated_ops.h"
#include "tests/support/expect_error.h"
#include "tests/support/ranks.h"

namespace graphpae {
namespace {

using test::as_ranks;
using ProcessesPtr = std::shared_ptr<Processes>;

TEST(Processes, SumAndShare) {
  as_ranks(3, [](const ProcessesPtr& processes) {
    const int rank = processes->rank();
    std::vector<double> values = {1.0 + rank, 0.1 * rank};
    processes->sum(values);
    EXPECT_EQ(values[0], 6);
    EXPECT_NEAR(values[1], 0.3, 1e-15);
    const torch::Tensor sent = torch::full({5}, rank + 1.0f);
    const auto pending = processes->begin_sum(sent);
    pending->wait();
    EXPECT_EQ(sent.sum().item<float>(), 30);
    const torch::Tensor first = torch::full({2, 2}, rank + 7.0f);
    processes->broadcast({first});
    EXPECT_EQ(first.sum().item<float>(), 28);
    EXPECT_EQ(processes->text_of_first("what", "rank " + std::to_string(rank)), "rank 0");
    processes->agree("nothing", "");
    EXPECT_USAGE_ERROR(processes->agree("something", rank == 1 ? "no" : ""), "rank 1: no");
  });
}

TEST(Processes, SayWhoDidNotCome) {
  const int port = test::free_port();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_USAGE_ERROR(Processes({1, 2, "127.0.0.1", port}, 1.5), "no master at 127.0.0.1:" + std::to_string(port));
  EXPECT_USAGE_ERROR(Processes({0, 3, "127.0.0.1", port}, 1.5), "rank 1, 2 of 3 did not come");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Processes, SayWhoIsGone) {
  std::vector<std::string> said(3);
  as_ranks(3, [&](const ProcessesPtr& processes) {
    std::vector<double> values = {1};
    processes->sum(values);
    if (processes->rank() == 1) return;
    try {
      processes->sum(values);
    } catch (const Error& error) {
      said[static_cast<size_t>(processes->rank())] = error.what();
    }
  });
  for (const int rank : {0, 2}) EXPECT_NE(said[rank].find("rank 1 of 3 is gone"), std::string::npos) << said[rank];
}

// Rows of a batch in one process, and divided among two.
struct Normed {
  torch::Tensor y, d_x, d_weight, d_bias, mean, variance;
};

Normed normed(const torch::Tensor& rows, const torch::Tensor& d_y, bool fused, Exchange* exchange) {
  BatchNorm norm(rows.size(1));
  {
    const torch::NoGradGuard no_grad;
    norm->weight.copy_(torch::linspace(0.5, 1.5, rows.size(1)));
    norm->bias.copy_(torch::linspace(-0.2, 0.3, rows.size(1)));
  }
  const torch::Tensor x = rows.clone().requires_grad_();
  const torch::Tensor y = fused ? ops::batch_norm(x, {norm->weight, norm->bias, norm->running_mean, norm->running_var},
                                                  true, true, {}, {1}, nullptr, exchange)
                                : torch::relu(norm(x, true, exchange));
  y.backward(d_y);
  return {y.detach(), x.grad(), norm->weight.grad(), norm->bias.grad(), norm->running_mean, norm->running_var};
}

TEST(Processes, BatchNormOfAllRows) {
  torch::manual_seed(1);
  const torch::Tensor rows = torch::randn({11, 6}) * 2 + 5, d_y = torch::randn({11, 6});
  const Normed whole = normed(rows, d_y, false, nullptr);
  const auto near = [](const torch::Tensor& a, const torch::Tensor& b) { return torch::allclose(a, b, 1e-4, 1e-5); };
  for (const bool fused : {false, true}) {
    Normed parts[2];
    as_ranks(2, [&](const ProcessesPtr& processes) {
      const int64_t first = processes->rank() == 0 ? 0 : 4, count = processes->rank() == 0 ? 4 : 7;
      parts[processes->rank()] =
          normed(rows.narrow(0, first, count), d_y.narrow(0, first, count).contiguous(), fused, processes.get());
    });
    EXPECT_TRUE(near(torch::cat({parts[0].y, parts[1].y}), whole.y)) << fused;
    EXPECT_TRUE(near(torch::cat({parts[0].d_x, parts[1].d_x}), whole.d_x)) << fused;
    EXPECT_TRUE(near(parts[0].d_weight + parts[1].d_weight, whole.d_weight)) << fused;
    EXPECT_TRUE(near(parts[0].d_bias + parts[1].d_bias, whole.d_bias)) << fused;
    for (const Normed& part : parts) {
      EXPECT_TRUE(near(part.mean, whole.mean)) << fused;
      EXPECT_TRUE(near(part.variance, whole.variance)) << fused;
    }
  }
}

TEST(GradientBuckets, SumsWhileGradientsCome) {
  as_ranks(2, [](const ProcessesPtr& processes) {
    const float mine = static_cast<float>(processes->rank() + 1);
    std::vector<torch::Tensor> parameters;
    for (const int64_t size : {300000, 5, 200000, 200000, 7, 3}) {
      parameters.push_back(torch::ones({size}).set_requires_grad(true));
    }
    GradientBuckets buckets(parameters, processes);
    for (int step = 0; step < 3; ++step) {
      for (torch::Tensor& parameter : parameters) parameter.mutable_grad() = torch::Tensor();
      (parameters[0].sum() * mine).backward();  // a first pass: its gradients are not complete
      buckets.begin_last_pass({});
      torch::Tensor loss = parameters[0].sum() * 10 * mine;
      for (const size_t p : {1, 2, 3}) loss = loss + parameters[p].sum() * mine;
      if (processes->rank() == 1) loss = loss + parameters[4].sum();  // only there
      loss.backward();
      buckets.finish();
      EXPECT_EQ(parameters[0].grad().min().item<float>(), 33);
      EXPECT_EQ(parameters[0].grad().max().item<float>(), 33);
      for (const size_t p : {1, 2, 3})
        EXPECT_EQ(parameters[p].grad().sum().item<float>(), 3.0f * parameters[p].numel());
      EXPECT_EQ(parameters[4].grad().sum().item<float>(), 7);
      EXPECT_FALSE(parameters[5].grad().defined());
      EXPECT_GE(buckets.num_buckets(), 2);
      EXPECT_EQ(buckets.sent_early() > 0, step > 0) << step;
    }
  });
}

}  // namespace
}  // namespace graphpae
