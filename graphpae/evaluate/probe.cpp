#include "graphpae/evaluate/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/evaluate/lbfgs.h"
#include "graphpae/evaluate/softmax_loss.h"
#include "graphpae/kernels/adam.h"

namespace graphpae {
namespace {

constexpr uint64_t kProbeStream = 0x70726f6265;  // "probe"

// From strong to weak: each optimum is the start for the next.
constexpr std::array<double, 8> kPenalties = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

constexpr double kGradientShare = 1e-4;  // of the gradient at zero: an optimum

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

void train_adam(SoftmaxLoss& loss, const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems,
                const ProbeOptions& options, const CandidateObserver& observe, Threads threads) {
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

// The parameters of one problem as one vector [D*C + C]: weights, then bias.
class ProblemColumns {
 public:
  ProblemColumns(int64_t columns, int64_t classes, int64_t width) : d_(columns), c_(classes), width_(width) {}
  int64_t size() const { return (d_ + 1) * c_; }
  int64_t weights() const { return d_ * c_; }

  void write(int64_t p, const std::vector<double>& v, float* w, float* bias) const {
    for (int64_t d = 0; d < d_; ++d) {
      for (int64_t c = 0; c < c_; ++c) w[d * width_ + p * c_ + c] = static_cast<float>(v[d * c_ + c]);
    }
    for (int64_t c = 0; c < c_; ++c) bias[p * c_ + c] = static_cast<float>(v[weights() + c]);
  }
  void read(int64_t p, const float* w, const float* bias, std::vector<double>& v) const {
    for (int64_t d = 0; d < d_; ++d) {
      for (int64_t c = 0; c < c_; ++c) v[d * c_ + c] = w[d * width_ + p * c_ + c];
    }
    for (int64_t c = 0; c < c_; ++c) v[weights() + c] = bias[p * c_ + c];
  }

 private:
  int64_t d_, c_, width_;
};

// Minimises mean cross entropy + penalty/2 |W|^2 for each penalty; the bias is free.
ProbeStatus train_lbfgs(SoftmaxLoss& loss, const DesignMatrix& x, int64_t classes, int64_t problems,
                        const CandidateObserver& observe) {
  const ProblemColumns columns(x.columns(), classes, loss.width());
  const size_t cells = static_cast<size_t>(x.columns() * loss.width());
  std::vector<float> w(cells), d_w(cells), bias(static_cast<size_t>(loss.width())), d_bias(bias.size());
  std::vector<std::vector<double>> optima(static_cast<size_t>(problems),
                                          std::vector<double>(static_cast<size_t>(columns.size()), 0));
  std::vector<double> gradient(static_cast<size_t>(columns.size()));
  // Gradients are small compared with those of zero weights, whatever the scale of the rows.
  loss.forward(w.data(), bias.data());
  loss.backward(d_w.data(), d_bias.data());
  std::vector<LbfgsOptions> search_options(static_cast<size_t>(problems));
  for (int64_t p = 0; p < problems; ++p) {
    columns.read(p, d_w.data(), d_bias.data(), gradient);
    double largest = 0;
    for (const double value : gradient) largest = std::max(largest, std::abs(value));
    search_options[p].tolerance = kGradientShare * largest;
  }
  ProbeStatus status;
  for (size_t k = 0; k < kPenalties.size(); ++k) {
    std::vector<Lbfgs> searches;
    for (int64_t p = 0; p < problems; ++p) searches.emplace_back(optima[p], search_options[p]);
    while (!std::all_of(searches.begin(), searches.end(), [](const Lbfgs& s) { return s.done(); })) {
      for (int64_t p = 0; p < problems; ++p) columns.write(p, searches[p].point(), w.data(), bias.data());
      loss.forward(w.data(), bias.data());
      loss.backward(d_w.data(), d_bias.data());
      for (int64_t p = 0; p < problems; ++p) {
        if (searches[p].done()) continue;
        columns.read(p, d_w.data(), d_bias.data(), gradient);
        double value = loss.loss(p);
        const std::vector<double>& point = searches[p].point();
        for (int64_t i = 0; i < columns.weights(); ++i) {
          value += kPenalties[k] / 2 * point[i] * point[i];
          gradient[i] += kPenalties[k] * point[i];
        }
        if (!std::isfinite(value) && searches[p].evaluations() == 0)
          throw numerical_error("probe: the loss is not finite");
        searches[p].tell(value, gradient);
      }
    }
    for (int64_t p = 0; p < problems; ++p) {
      optima[p] = searches[p].best();
      status.unconverged += !searches[p].converged();
      columns.write(p, optima[p], w.data(), bias.data());
    }
    loss.forward(w.data(), bias.data());
    observe(static_cast<int64_t>(k), loss.predictions());
  }
  return status;
}

}  // namespace

int64_t num_candidates(const ProbeOptions& options) {
  return options.kind == ProbeKind::adam ? options.epochs : static_cast<int64_t>(kPenalties.size());
}

std::string candidate_name(const ProbeOptions& options, int64_t k) {
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
  SoftmaxLoss loss(x, classes, problems, threads);
  if (options.kind == ProbeKind::lbfgs)
    return train_lbfgs(loss, x, classes, static_cast<int64_t>(problems.size()), observe);
  train_adam(loss, x, classes, problems, options, observe, threads);
  return {};
}

}  // namespace graphpae
