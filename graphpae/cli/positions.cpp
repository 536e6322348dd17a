#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "graphpae/cli/interrupt.h"
#include "graphpae/cli/program.h"
#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/positions/position_file.h"
#include "graphpae/positions/slepc_session.h"

namespace graphpae::cli {
namespace {

struct PositionsFlags {
  DataFlags data;
  std::string output;
  bool no_cache = false;
  SettingFlags settings;
};

struct Outcome {
  int64_t nodes = 0, k = 0, computed = 0, converged = 0;
  double max_residual = 0, seconds = 0;
  std::string solver;
  bool cached = false, complete = true;
  std::vector<std::string> notes;
};

// An error that all ranks of mpirun meet is for rank 0 to tell; it ends the others meanwhile.
constexpr std::chrono::seconds kPrecedence{2};

// Runs `body` in a SlepcSession. Only rank 0 shows messages and progress. An error on any rank is printed once and ends
// all ranks with its exit code.
template <class Body>
void run_on_ranks(Common& common, const Body& body) {
  const SlepcSession session;
  const bool first = session.rank() == 0;
  if (session.ranks() > 1) end_silently_when_interrupted();
  if (!first) {
    common.quiet = true;
    spdlog::set_level(spdlog::level::err);
  }
  try {
    body();
  } catch (const std::exception&) {
    if (session.ranks() == 1) throw;
    if (!first) std::this_thread::sleep_for(kPrecedence);
    session.end_all(report_exception());
  }
}

// As load_data; rank 0 reads first, so that downloads and errors happen once.
Dataset load_data_on_ranks(const DataFlags& flags, const Common& common) {
  const bool first = SlepcSession::rank() == 0;
  if (!first) SlepcSession::wait_for_all();
  Dataset dataset = load_data(flags, common);
  if (first) SlepcSession::wait_for_all();
  return dataset;
}

void check_memory(int64_t needed) {
  const int64_t available = available_memory();
  if (needed <= available) return;
  throw memory_error(fmt::format("positions need about {:.1f} GB, {:.1f} GB are available",
                                 static_cast<double>(needed) / 1e9, static_cast<double>(available) / 1e9));
}

Outcome solve_one(const Graph& graph, const PositionOptions& options, const PositionsFlags& flags,
                  const Common& common) {
  const Adjacency& adjacency = graph.adjacency();
  const Stopwatch watch;
  const bool first = SlepcSession::rank() == 0;
  const char* directory = std::getenv("GRAPHPAE_CACHE");
  const bool use_cache = first && !flags.no_cache && directory != nullptr && directory[0] != '\0';
  const PositionCache cache(use_cache ? directory : "");
  const std::string key = use_cache ? position_key(adjacency, options) : "";
  std::optional<Positions> positions = use_cache ? cache.find(key) : std::nullopt;
  Outcome outcome;
  outcome.cached = SlepcSession::first_says(positions.has_value());
  if (!outcome.cached) {
    check_memory(position_memory(adjacency.num_nodes(), static_cast<int64_t>(adjacency.neighbours().size()), options));
    Progress progress(common, "eigenpairs", options.k);
    positions = laplacian_positions(adjacency, options, common.thread_count(), [&](const PositionProgress& p) {
      progress.update(std::min(p.converged, options.k));
      return true;
    });
    if (use_cache) cache.store(key, *positions);
  }
  if (!first) return outcome;
  outcome.seconds = watch.seconds();
  write_positions(flags.output, *positions);
  outcome.nodes = positions->num_nodes;
  outcome.k = positions->k;
  outcome.computed = positions->computed;
  outcome.converged = positions->converged;
  outcome.max_residual = positions->max_residual();
  outcome.solver = positions->solver;
  outcome.complete = positions->status == PositionStatus::converged;
  outcome.notes = positions->notes;
  return outcome;
}

Outcome solve_many(const GraphSet& set, const PositionOptions& options, const PositionsFlags& flags,
                   const Common& common) {
  const GraphSetParts& parts = set.parts();
  check_memory(8 * options.k * (set.num_nodes() + 2 * set.num_graphs()));
  const Stopwatch watch;
  BatchPositions positions;
  {
    Progress progress(common, "graphs", set.num_graphs());
    positions = position_batch({parts.node_offsets, parts.edge_offsets, parts.edges}, options, common.thread_count(),
                               [&](int64_t graphs) {
                                 progress.update(graphs);
                                 return true;
                               });
  }
  Outcome outcome;
  outcome.seconds = watch.seconds();
  write_positions(flags.output, positions);
  outcome.nodes = set.num_nodes();
  outcome.k = positions.k;
  for (const int32_t computed : positions.computed) outcome.computed += computed;
  for (size_t i = 0; i < positions.residuals.size(); ++i)
    outcome.max_residual = std::max(outcome.max_residual, positions.residuals[i]);
  outcome.converged = outcome.computed;
  outcome.solver = "dense";
  outcome.complete = positions.unconverged_graphs == 0;
  if (positions.padded_graphs > 0)
    outcome.notes.push_back(fmt::format("{} graphs have fewer than {} eigenvectors; the rest is zero",
                                        positions.padded_graphs, positions.k));
  if (positions.cut_graphs > 0)
    outcome.notes.push_back(
        fmt::format("in {} graphs K = {} cuts an eigenspace: which vectors are taken from it is arbitrary",
                    positions.cut_graphs, positions.k));
  return outcome;
}

OptionTable position_table(PositionOptions& o) {
  OptionTable table;
  using N = PositionNormalisation;
  table.add("k", o.k, between(1, 1e6), "Compute this many eigenvectors.");
  table.add("tolerance", o.tolerance, between(1e-12, 1e-2), "Keep every residual ||L u - lambda u|| below this.");
  table.add_choice("solver", o.solver,
                   {{"auto", PositionSolver::automatic},
                    {"dense", PositionSolver::dense},
                    {"block", PositionSolver::block},
                    {"inverse", PositionSolver::inverse},
                    {"slepc", PositionSolver::slepc}},
                   "Compute with this solver.");
  table.add("skip_zero", o.skip_zero, "Leave out eigenvalues below 1e-6.");
  table.add("absolute", o.absolute, "Take absolute values of entries.");
  table.add_choice("weights", o.weights, {{"use", true}, {"ignore", false}},
                   "Use the weights of edges, if they have any, or count every edge the same.");
  table.add_choice("normalisation", o.normalisation,
                   {{"none", N::none},
                    {"l1", N::l1},
                    {"l2", N::l2},
                    {"max_abs", N::max_abs},
                    {"wavelength", N::wavelength},
                    {"wavelength_asin", N::wavelength_asin},
                    {"wavelength_soft", N::wavelength_soft}},
                   "Normalise each eigenvector in this way.");
  table.add("extend", o.extend, "Complete the eigenspace that K cuts.");
  return table;
}

void run_positions(const PositionsFlags& flags, const PositionOptions& options, const Common& common) {
  const Dataset dataset = load_data_on_ranks(flags.data, common);
  const Outcome outcome = dataset.is_graph() ? solve_one(dataset.graph(), options, flags, common)
                                             : solve_many(dataset.graph_set(), options, flags, common);
  if (SlepcSession::rank() != 0) return;
  if (common.json) {
    print_json({{"nodes", outcome.nodes},
                {"k", outcome.k},
                {"computed", outcome.computed},
                {"converged", outcome.converged},
                {"max_residual", outcome.max_residual},
                {"solver", outcome.solver},
                {"seconds", outcome.seconds},
                {"peak_rss_bytes", peak_memory()},
                {"cached", outcome.cached},
                {"notes", outcome.notes},
                {"output", flags.output}});
  } else {
    print_notes(dataset.notes);
    print_notes(outcome.notes);
    fmt::print("{}: {} eigenvectors of {} nodes, largest residual {:.1e}, solver {}, {:.2f} s{}\n", flags.output,
               outcome.computed, outcome.nodes, outcome.max_residual, outcome.solver, outcome.seconds,
               outcome.cached ? " (from the cache)" : "");
  }
  if (!outcome.complete) {
    throw numerical_error(fmt::format(
        "{}: not all eigenvectors are certain; the file holds what was found, with residuals", flags.output));
  }
}

}  // namespace

void add_positions(CLI::App& app, Common& common) {
  CLI::App* verb =
      app.add_subcommand("positions", "Compute the smallest eigenvalues and eigenvectors of the normalised Laplacian.");
  auto flags = std::make_shared<PositionsFlags>();
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Write to this file (.npz).")->required()->type_name("FILE");
  PositionOptions defaults;
  add_setting_flags(*verb, position_table(defaults), flags->settings, {{"k", "solver", "tolerance"}, kRare});
  verb->add_flag("--no-cache", flags->no_cache, "Neither read nor write $GRAPHPAE_CACHE.")->group(kRare);
  add_reading_flags(*verb, flags->data);
  verb->callback([flags, &common] {
    PositionOptions options;
    apply_settings(position_table(options), flags->settings);
    if (!flags->output.ends_with(".npz"))
      throw usage_error(fmt::format("-o {}: positions are written as .npz", flags->output));
    check_not_input(flags->output, flags->data);
    flags->data.use_cache = !flags->no_cache;
    const auto job = [&] { run_positions(*flags, options, common); };
    if (options.solver == PositionSolver::slepc) return run_on_ranks(common, job);
    job();
  });
}

}  // namespace graphpae::cli
