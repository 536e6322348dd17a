#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

#include "graphpae/cli/dry_run.h"
#include "graphpae/cli/environment.h"
#include "graphpae/cli/evaluation_table.h"
#include "graphpae/cli/interrupt.h"
#include "graphpae/cli/leave_report.h"
#include "graphpae/cli/molecule_evaluation_table.h"
#include "graphpae/cli/progress.h"
#include "graphpae/cli/team.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/train/run_directory.h"
#include "graphpae/train/tensor_memory.h"

namespace graphpae::cli {
namespace {

struct Flags {
  DataFlags data;
  ModelFlags model;
  std::string output, kernels = "fused", precision = "fp32";
  bool resume = false, force = false, dry_run = false, evaluate = false;
  EvaluateFlags evaluation;
  int64_t checkpoint_every = 50;
  double timeout = 300;
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// A run goes on with the settings it began with; what the command line says may only repeat them.
Settings resumed_settings(const ModelFlags& flags, const RunDirectory& run) {
  const Settings begun = run.settings();
  if (const auto d = setting_difference(begun, resolve_settings(flags, begun)))
    throw usage_error(
        fmt::format("{}: the run has {}={}, the command line says {}", run.path(), d->key, d->first, d->second));
  return begun;
}

std::string result_card(const std::string& data, const Json& results) {
  return fmt::format("Trained on {}: {} epochs, final loss {:.6g}.\n", data, results["epochs"].get<int64_t>(),
                     results["final_loss"].is_number() ? results["final_loss"].get<double>() : std::nan(""));
}

// What an epoch of several steps goes through; none for a whole graph in a step.
struct Items {
  const char* name;
  int64_t count;
};
Items items_of(const PreparedGraph& input, const Settings& settings) {
  return {"nodes", settings.batch_size > 0 ? input.graph->num_nodes() : 0};
}
Items items_of(const std::shared_ptr<const MoleculeInputs>& input, const Settings&) {
  return {"molecules", static_cast<int64_t>(input->with_atoms().size())};
}
Items items_of(const ShardInput& input, const Settings&) { return {"molecules", input.shards->manifest().molecules()}; }

// Shards have no labels to evaluate with.
struct NoPlan {};
NoPlan plan_evaluation(const ShardSet&, const Settings&, const EvaluateFlags&, const Common&,
                       std::vector<std::string>&) {
  throw usage_error("--evaluate needs labels, and shards hold none");
}

std::string details_text(const EpochMetrics& m) {
  return fmt::format("(features {:.4f}, positions {:.2e})  lr {:.1e}  ", m.loss_feature, m.loss_position, m.lr);
}

// All steps that are left, with checkpoints in `run`, if there is one. `metrics` of the epochs done receive those of
// the others.
void train_steps(Pretrainer& trainer, std::optional<RunDirectory>& run, const std::string& data, const Flags& flags,
                 const Common& common, const Team& team, const Items& items, std::vector<EpochMetrics>& metrics) {
  constexpr double kSecondsBetweenCheckpoints = 300;
  const int64_t steps = trainer.steps_per_epoch(), epochs = trainer.settings().epochs;
  const GracefulStop stop;
  const auto start = Clock::now();
  auto last_checkpoint = start;
  const int64_t first = trainer.epoch() * steps + trainer.step();
  Progress progress(common, steps > 1 ? "steps" : "epochs", epochs * steps, first);
  while (!trainer.done()) {
    const std::optional<EpochMetrics> epoch = trainer.train_step();
    if (epoch) {
      metrics.push_back(*epoch);
      if (run) run->append(*epoch);
    }
    const int64_t done = trainer.epoch() * steps + trainer.step();
    std::string note = fmt::format("loss {:.4f} ", epoch ? epoch->loss : trainer.loss_so_far());
    if (items.count > 0) {
      const double epochs_here = static_cast<double>(done - first) / static_cast<double>(steps);
      note = fmt::format("epoch {}/{}  {} {:.0f} {}/s ", std::min(trainer.epoch() + 1, epochs), epochs, note,
                         epochs_here * static_cast<double>(items.count) / seconds_since(start), items.name);
    }
    if (!metrics.empty()) note += details_text(metrics.back());
    progress.update(done, note + fmt::format("{:.2f} GB", static_cast<double>(resident_memory()) / 1e9));

    const bool stopping = team.any(stop.requested()) && !trainer.done();
    const bool due = stopping || trainer.done() || (epoch && epoch->epoch % flags.checkpoint_every == 0) ||
                     seconds_since(last_checkpoint) > kSecondsBetweenCheckpoints;
    if (due && run) {
      run->save_checkpoint(trainer, data);
      last_checkpoint = Clock::now();
    }
    if (stopping) {
      if (!run) throw Error(ErrorKind::interrupted, "");
      const std::string step = trainer.step() > 0 ? fmt::format(", step {}", trainer.step()) : "";
      throw Error(ErrorKind::interrupted,
                  fmt::format("interrupted after epoch {}{}; --resume goes on from there", trainer.epoch(), step));
    }
  }
}

bool goes_on(const Flags& flags, const Team& team) {
  const bool mine = flags.resume && team.leads() && RunDirectory::holds_run(flags.output);
  return team.text_of_first("resume", mine ? "yes" : "no") == "yes";
}

// Trains and, if asked to, evaluates; the table of the evaluation goes to `table`. Data: Graph, GraphSet or ShardSet.
template <class Data>
Json train(const Data& data, const Settings& base, const Flags& flags, const Common& common, const Team& team,
           std::string& table) {
  const bool resuming = goes_on(flags, team);
  const std::string hash = content_hash(data);
  team.check_same(hash);
  std::optional<RunDirectory> run;  // of rank 0
  std::optional<NewRunGuard> guard;
  Settings settings;
  std::vector<std::string> notes;
  std::optional<decltype(plan_evaluation(data, settings, flags.evaluation, common, notes))> plan;
  const auto plan_ahead = [&] {  // its errors come before anything is written
    if (!flags.evaluate) return;
    naming(flags.data.data, [&] { plan.emplace(plan_evaluation(data, settings, flags.evaluation, common, notes)); });
    print_notes(notes);
  };
  if (resuming) {
    if (team.leads()) {
      run = RunDirectory::open(flags.output);
      settings = resumed_settings(flags.model, *run);
    }
    settings = team.settings_of_first(
        settings, [&](const Settings& of_first) { return resolve_settings(flags.model, of_first); });
    plan_ahead();
  } else {
    settings = team.settings_of_first(resolve_settings(flags.model, base), {});
    naming(flags.data.data, [&] { check_trainable(data, settings); });
    plan_ahead();
    if (team.leads()) guard.emplace(run.emplace(RunDirectory::create(flags.output, flags.force)));
  }
  const Kernels kernels = parse_kernels(flags.kernels);
  if (kernels == Kernels::fused) {  // the reference is LibTorch as it comes
    keep_freed_memory();
    if (!std::is_same_v<Data, Graph> || settings.batch_size > 0) keep_tensor_memory();
  }
  if (run) {
    if (!resuming) write_file(run->file("config.yaml"), to_yaml(settings) + reading_yaml(flags.data));
    Json environment = environment_json(run->path(), flags.data.data, hash, common, kernels);
    environment["processes"] = team.size();
    write_file(run->file("environment.json"), environment.dump(2) + "\n");
  }

  Settings part = settings;  // of the batch, that this process sees
  part.batch_size = (settings.batch_size + team.size() - 1) / team.size();
  const int64_t needed = estimate(data, part, kernels, common.thread_count()).bytes;
  if (needed > available_memory()) {
    throw memory_error(fmt::format("training needs about {:.1f} GB, {:.1f} GB are available",
                                   static_cast<double>(needed) / 1e9, static_cast<double>(available_memory()) / 1e9));
  }
  const auto start = Clock::now();
  const InputOptions options = input_options(common, kernels, data, settings);
  const auto input = naming(flags.data.data, [&] { return prepare(data, settings, options); });
  Pretrainer trainer(input, input_shape(data), settings, team.processes);
  const double preparing = seconds_since(start);
  notes.clear();
  if (resuming && run && run->restore_checkpoint(trainer, hash, notes)) {
    spdlog::info("going on after epoch {}{}", trainer.epoch(),
                 trainer.step() > 0 ? fmt::format(", step {}", trainer.step()) : "");
  }
  print_notes(notes);
  if (team.processes) trainer.follow_first();
  std::vector<EpochMetrics> metrics;
  if (run) metrics = run->rewind_metrics(trainer.epoch());
  const Items items = items_of(input, settings);
  train_steps(trainer, run, hash, flags, common, team, items, metrics);
  if (!run) return {};

  std::vector<double> times;
  double seconds = preparing;
  for (const EpochMetrics& epoch : metrics) {
    times.push_back(epoch.seconds);
    seconds += epoch.seconds;
  }
  Json results = {{"epochs", trainer.epoch()},
                  {"final_loss", metrics.empty() ? Json() : Json(metrics.back().loss)},
                  {"seconds", seconds},
                  {"seconds_per_epoch", median(times)}};
  if (items.count > 0) {
    results[fmt::format("{}_per_second", items.name)] =
        times.empty() ? Json() : Json(static_cast<double>(items.count) / median(times));
  }
  results["peak_rss_bytes"] = peak_memory();
  results["run"] = flags.output;
  save_model(run->file("model"), trainer.model(), result_card(flags.data.data, results));
  write_file(run->file("results.json"), results.dump(2) + "\n");
  leave_report(run->path());
  if constexpr (!std::is_same_v<Data, ShardSet>) {
    if (!plan) return results;
    const auto model = std::static_pointer_cast<GraphPae>(trainer.model().shared_from_this());
    const auto rows = run_evaluation(*plan, {model}, input, options, common,
                                     [&](const Features& embedded) { leave_map(run->path(), embedded, data, common); });
    results["evaluation"] = evaluation_json(*plan, rows);
    table = evaluation_text(*plan, rows);
    write_file(run->file("results.json"), results.dump(2) + "\n");
    leave_report(run->path());
  }
  return results;
}

// What there is to train on.
std::variant<Graph, GraphSet, ShardSet> load_training_data(const DataFlags& flags, const Common& common,
                                                           std::vector<std::string>& notes) {
  if (is_shard_directory(flags.data)) return ShardSet(flags.data);
  Dataset dataset = load_data(flags, common);
  notes = std::move(dataset.notes);
  if (dataset.is_graph()) return std::get<Graph>(std::move(dataset.content));
  return std::get<GraphSet>(std::move(dataset.content));
}

}  // namespace

void add_pretrain(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("pretrain", "learn an encoder without labels");
  auto flags = std::make_shared<Flags>();
  add_data_flags(*verb, flags->data);
  add_model_flags(*verb, flags->model);
  verb->add_option("-o,--output", flags->output, "run directory");
  verb->add_flag("--resume", flags->resume, "go on with the run in the run directory, if there is one");
  verb->add_flag("--force", flags->force, "start anew in an existing run directory");
  verb->add_flag("--dry-run", flags->dry_run, "shapes, memory and time estimate; nothing is written");
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->add_option("--precision", flags->precision, "of the computation; fp32 is all there is")->capture_default_str();
  verb->add_option("--checkpoint-every", flags->checkpoint_every, "epochs between checkpoints")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--timeout", flags->timeout, "of several processes: seconds after which one that is silent is gone")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  CLI::Option* evaluate = verb->add_flag("--evaluate", flags->evaluate, "probe the embeddings after training");
  add_evaluate_flags(*verb, flags->evaluation, evaluate);
  verb->callback([flags, &common] {
    const Kernels kernels = parse_kernels(flags->kernels);
    if (flags->precision != "fp32")
      throw usage_error(fmt::format("--precision {}: only fp32 is offered", flags->precision));
    if (flags->resume && flags->force) throw usage_error("--resume and --force exclude each other");
    resolve_settings(flags->model);  // errors before the data are read
    if (flags->output.empty() && !flags->dry_run) throw usage_error("-o RUN is required: where the run is kept");
    const Team team = flags->dry_run ? Team() : join_team(flags->timeout);
    if (!team.leads()) {
      common.quiet = true;
      spdlog::set_level(spdlog::level::err);
    }
    std::vector<std::string> notes;
    const bool resuming = flags->resume && RunDirectory::holds_run(flags->output);
    if (!is_shard_directory(flags->data.data))
      resolve_reading(flags->model, resuming ? flags->output + "/config.yaml" : "", flags->data);
    const auto all = load_training_data(flags->data, common, notes);
    const Settings base =
        resuming ? Settings() : base_settings(flags->model, std::holds_alternative<Graph>(all), notes);
    print_notes(notes);
    if (flags->dry_run) {
      const Settings settings = resuming ? resumed_settings(flags->model, RunDirectory::open(flags->output))
                                         : resolve_settings(flags->model, base);
      return std::visit(
          [&](const auto& data) {
            naming(flags->data.data, [&] { check_trainable(data, settings); });
            print_estimate(estimate(data, settings, kernels, common.thread_count()), model_shapes(data, settings),
                           settings.epochs, common);
          },
          all);
    }
    std::string table;
    const Json results =
        std::visit([&](const auto& data) { return train(data, base, *flags, common, team, table); }, all);
    if (!team.leads()) return;
    if (common.json) return print_json(results);
    std::string rate = fmt::format("{:.3g} s per epoch", results["seconds_per_epoch"].get<double>());
    for (const std::string items : {"molecules", "nodes"}) {
      const std::string key = items + "_per_second";
      if (results.contains(key) && results[key].is_number())
        rate += fmt::format(", {:.0f} {}/s", results[key].get<double>(), items);
    }
    const Json& loss = results["final_loss"];
    fmt::print("{}: {} epochs, final loss {}, {:.1f} s ({}), peak memory {:.2f} GB\n", flags->output,
               results["epochs"].get<int64_t>(), loss.is_number() ? fmt::format("{:.6g}", loss.get<double>()) : "-",
               results["seconds"].get<double>(), rate, results["peak_rss_bytes"].get<double>() / 1e9);
    if (!table.empty()) fmt::print("\n{}", table);
  });
}

}  // namespace graphpae::cli
