#include "graphpae/evaluate/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/evaluate/softmax_loss.h"
#include "graphpae/evaluate/tuned_probe.h"
#include "graphpae/kernels/adam.h"

namespace graphpae {
namespace {

constexpr uint64_t kProbeStream = 0x70726f6265;  // "probe"

// From strong to weak: each optimum is the start for the next.
constexpr std::array<double, 8> kPenalties = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

// Initial weights of all problems side by side [D,width].
std::vector<float> initial_weights(int64_t columns, int64_t classes, std::span<const ProbeProblem> problems) {
  const int64_t width = static_cast<int64_t>(problems.size()) * classes;
  std::vector<float> w(static_cast<size_t>(columns * width));
  for (size_t p = 0; p < problems.size(); ++p) {
    const std::vector<float> own = initial_probe_weights(columns, classes, problems[p].seed);
    for (int64_t d = 0; d < columns; ++d) {
      std::copy_n(own.begin() + d * classes, classes, w.begin() + d * width + static_cast<int64_t>(p) * classes);
    }
  }
  return w;
}

void train_adam(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems,
                const ProbeOptions& options, const CandidateObserver& observe, Threads threads) {
  SoftmaxLoss loss(x, classes, problems, threads);
  std::vector<float> w = initial_weights(x.columns(), classes, problems);
  std::vector<float> bias(static_cast<size_t>(loss.width()), 0);
  std::vector<float> d_w(w.size()), first_w(w.size()), second_w(w.size());
  std::vector<float> d_bias(bias.size()), first_bias(bias.size()), second_bias(bias.size());
  const kernels::UpdateOptions update{.rate = options.lr, .weight_decay = options.weight_decay};
  loss.forward(w.data(), bias.data());
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    loss.backward(d_w.data(), d_bias.data());
    kernels::update_parameter(update, epoch, d_w.data(), static_cast<int64_t>(w.size()), w.data(), first_w.data(),
                              second_w.data(), threads);
    kernels::update_parameter(update, epoch, d_bias.data(), static_cast<int64_t>(bias.size()), bias.data(),
                              first_bias.data(), second_bias.data(), threads);
    if (!std::all_of(bias.begin(), bias.end(), [](float b) { return std::isfinite(b); }))
      throw numerical_error(fmt::format("probe: weights are not finite after epoch {}", epoch));
    loss.forward(w.data(), bias.data());
    observe(epoch - 1, loss.predictions());
  }
}

}  // namespace

int64_t num_candidates(const ProbeOptions& options) {
  if (options.kind == ProbeKind::tuned) return kTunedCandidates;
  return options.kind == ProbeKind::adam ? options.epochs : static_cast<int64_t>(kPenalties.size());
}

std::string candidate_name(const ProbeOptions& options, int64_t k) {
  if (options.kind == ProbeKind::tuned) {
    return fmt::format("penalty {:.3g}, columns scaled {}", tuned_penalty(k),
                       k < kTunedPenalties ? "one by one" : "together");
  }
  return options.kind == ProbeKind::adam ? fmt::format("epoch {}", k + 1) : fmt::format("penalty {:g}", kPenalties[k]);
}

std::vector<float> initial_probe_weights(int64_t columns, int64_t classes, uint64_t seed) {
  const double bound = std::sqrt(6.0 / static_cast<double>(columns + classes));
  const Rng rng(seed, kProbeStream);
  std::vector<float> w(static_cast<size_t>(columns * classes));
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>((2 * rng.uniform(i) - 1) * bound);
  return w;
}

ProbeStatus train_probes(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems,
                         const ProbeOptions& options, const CandidateObserver& observe, Threads threads) {
  ProbeStatus status;
  if (options.kind == ProbeKind::adam) {
    train_adam(x, classes, problems, options, observe, threads);
    return status;
  }
  PenalisedFit fits(x, classes, problems, threads);
  for (size_t k = 0; k < kPenalties.size(); ++k) {
    status.unconverged += fits.fit(kPenalties[k]);
    observe(static_cast<int64_t>(k), fits.predictions());
  }
  return status;
}

}  // namespace graphpae
