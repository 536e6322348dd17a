#include "graphpae/run/spectrum.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "graphpae/analyze/spectrum_solver.h"
#include "graphpae/core/error.h"
#include "graphpae/model/representations.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/run/models.h"

namespace graphpae::run {
namespace {

namespace fs = std::filesystem;

// Larger graphs are looked at up to some frequency unless more is asked for.
constexpr int64_t kWholeNodes = 8000, kSomeEigenvectors = 200;

// All eigenvectors of L = I - D^-1/2 A D^-1/2 by LAPACK; isolated nodes have 1 on the diagonal.
FourierBasis whole_basis(const Adjacency& graph) {
  const int64_t n = graph.num_nodes();
  torch::Tensor matrix = torch::eye(n, torch::kFloat64);
  double* values = matrix.data_ptr<double>();
  std::vector<double> root(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    root[i] = 1 / std::sqrt(static_cast<double>(std::max<size_t>(graph.row(i).size(), 1)));
  for (int64_t i = 0; i < n; ++i) {
    for (const int32_t j : graph.row(i)) values[i * n + j] -= root[i] * root[j];
  }
  const auto [eigenvalues, eigenvectors] = torch::linalg_eigh(matrix, "L");
  const torch::Tensor rows = eigenvectors.contiguous();
  FourierBasis basis;
  basis.num_nodes = basis.k = n;
  basis.eigenvalues.assign(eigenvalues.data_ptr<double>(), eigenvalues.data_ptr<double>() + n);
  // Rounding may leave 0 and 2 by a little.
  for (double& value : basis.eigenvalues) value = std::clamp(value, 0.0, 2.0);
  basis.vectors.assign(rows.data_ptr<double>(), rows.data_ptr<double>() + n * n);
  return basis;
}

// The representations of every run, of an untrained encoder like that of the first, and the features themselves.
std::vector<EnergySpectrum> energies_of(const Graph& graph, const std::vector<std::string>& runs,
                                        const std::vector<std::shared_ptr<Model>>& models, const FourierBasis& basis,
                                        double band_width, const Context& context) {
  std::vector<EnergySpectrum> energies;
  const auto add = [&](const std::string& name, const Features& rows) {
    energies.push_back(energy_spectrum(name, basis, rows, band_width, context.threads));
  };
  const auto embedded = [&](Model& model) {
    const auto seen = as_seen(model, graph, context.watch.note);
    return embedded_rows(model, prepare(*seen, model.settings(), input_options(context, graph, model.settings())));
  };
  for (size_t m = 0; m < models.size(); ++m) {
    const fs::path path = fs::absolute(runs[m]).lexically_normal();
    const std::string name = path.has_filename() ? path.filename() : path.parent_path().filename();
    const bool unique = std::none_of(energies.begin(), energies.end(), [&](const auto& e) { return e.name == name; });
    add(unique ? name : runs[m], embedded(*models[m]));
  }
  add("untrained encoder", embedded(*untrained(*models.front())));
  add("raw features", raw_feature_rows(*as_seen(*models.front(), graph), models.front()->settings()));
  return energies;
}

}  // namespace

void declare(OptionTable& table, SpectrumSettings& s) {
  SpectrumOptions& o = s.corruptions;
  table.add("ratio", o.ratio, between(0, 1), "Corrupt this share of nodes or edges.");
  table.add("noise", o.noise, between(0, 1000), "Shake positions by up to this much.");
  table.add("draws", o.draws, between(0, 1000),
            "Average over this many random corruptions; with --run the default is 0, none at all.");
  table.add("band_width", o.band_width, between(0.001, 2),
            "Make bands of frequencies, which are in 0 .. 2, this wide.");
  table.add("eigenvectors", s.eigenvectors, between(0, 1e6),
            "Compute this many of the lowest frequencies; 0 means all, or 200 in graphs of more than 8,000 nodes.");
  table.add("seed", o.seed, between(0, 1e15), "Draw the corruptions from this seed.");
}

Spectrum spectrum(const Graph& graph, const std::string& name, const SpectrumSettings& settings,
                  const std::vector<std::string>& runs, const Context& context) {
  const SpectrumOptions& options = settings.corruptions;
  if (options.draws > 0) naming(name, [&] { check_corruptions(graph, options); });
  int64_t k = settings.eigenvectors;
  if (k == 0 && graph.num_nodes() > kWholeNodes) k = kSomeEigenvectors;
  if (k >= graph.num_nodes()) k = 0;
  check_spectrum_memory(graph, k);
  std::vector<std::shared_ptr<Model>> models;
  for (const std::string& run : runs) {
    models.push_back(load_model(run));
    naming(run, [&] { check_features(*models.back(), graph); });
  }

  use_threads_in_torch(context.threads);
  Spectrum found{name, options, graph.num_nodes(), 0, 0, {}, {}};
  SpectrumSolver solver(k, options.draws, context.threads, whole_basis, [&](int64_t percent, const std::string& what) {
    context.watch.report({"%", percent, 100, 0, what});
  });
  const auto solve = [&](const Adjacency& adjacency) { return solver.solve(adjacency); };
  const FourierBasis basis = solve(graph.adjacency());
  found.eigenvectors = basis.k;
  found.highest = basis.eigenvalues.back();
  if (options.draws > 0)
    found.corruptions =
        analyse_corruptions(graph, basis, solve, options, context.threads,
                            [&](const std::string& corruption, int64_t draw) { solver.draw(corruption, draw); });
  solver.end();
  if (!runs.empty()) found.energies = energies_of(graph, runs, models, basis, options.band_width, context);
  return found;
}

}  // namespace graphpae::run
