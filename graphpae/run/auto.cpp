#include "graphpae/run/auto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "graphpae/blocks/randomised_svd.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/data/summary.h"
#include "graphpae/evaluate/block_choice.h"
#include "graphpae/evaluate/chosen_fit.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/run/auto_parts.h"
#include "graphpae/run/auto_record.h"
#include "graphpae/run/report.h"
#include "graphpae/run/run_directory.h"

namespace graphpae::run {
namespace {

constexpr int64_t kEmbeddingColumns = 256;

// Begins or opens the run. A run that goes on must be of the same data and options.
RunDirectory open_run(const Dataset& dataset, const AutoOptions& options, const Context& context) {
  const std::string hash = std::visit([](const auto& data) { return content_hash(data); }, dataset.content);
  const std::string config = auto_config(options);
  const bool resuming = options.resume && RunDirectory::holds_run(options.run);
  RunDirectory run = resuming ? RunDirectory::open(options.run, context.command)
                              : RunDirectory::create(options.run, options.force, context.command);
  if (resuming) {
    check_same_config(options.run, read_file(run.file("config.yaml"), 1 << 20), config);
    check_same_data(run.file("environment.json"), hash);
  } else {
    write_file(run.file("config.yaml"), config);
  }
  write_environment(run, options.data, hash, context, nlohmann::ordered_json::object());
  return run;
}

struct AutoBlocks {
  std::vector<Block> blocks;
  KernelList kernels;
};

void add_block(AutoBlocks& all, Block block) {
  const KernelList kernels = kernels_of(block);
  all.kernels.insert(all.kernels.end(), kernels.begin(), kernels.end());
  all.blocks.push_back(std::move(block));
}

AutoBlocks make_blocks(const Dataset& dataset, AutoPlan& plan, const AutoOptions& options, const Context& context) {
  AutoBlocks all;
  const int64_t total = std::ssize(plan.blocks);
  for (int64_t b = 0; b < total; ++b) {
    context.watch.report({"blocks", b, total, 0, plan.blocks[b]});
    add_block(all, naming(options.data, [&] { return auto_block(dataset, plan.blocks[b], options, context); }));
  }
  context.watch.report({"blocks", total, total, 0, ""});
  for (const AutoModel& model : plan.models) {
    context.watch.tell(fmt::format("pre-training {}, {} epochs", model.name, model.epochs));
    try {
      Block block = pretrained_block(dataset, model, options, context);
      block.name = plan.models.size() > 1 ? "pretrained/" + model.name : "pretrained";
      add_block(all, std::move(block));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numerical && error.kind() != ErrorKind::memory) throw;
      plan.notes.push_back(fmt::format("{} is left out: {}", model.name, error.what()));
      context.watch.say(plan.notes.back());
    }
  }
  return all;
}

FitOptions fit_options(const Split& split, const AutoSubject& subject, const AutoOptions& options,
                       const Context& context) {
  FitOptions how;
  how.seed = static_cast<uint64_t>(options.seed);
  how.threads = context.threads;
  how.penalty_by_val = std::ssize(known_rows(subject.task, split.val)) >= ChoiceOptions().enough_validation;
  return how;
}

double test_of(const KernelSum& sum, int64_t penalty, const KernelList& kernels, const AutoSubject& subject,
               const Split& split, const FitOptions& how, AutoSplit* record) {
  const std::vector<int32_t> test = known_rows(subject.task, split.test);
  const FittedChoice fit = fit_choice(sum, penalty, kernels, subject.task, split, test, how);
  const std::optional<double> score = subject.task.score(test, fit.asked);
  if (!score) throw data_error("the test rows cannot be scored: they are of one class");
  if (record != nullptr) {
    record->penalty = fit.penalty;
    if (fit.validation) record->validation = subject.task.shown(*fit.validation);
  }
  return subject.task.shown(*score);
}

AutoSplit work_on(const Split& split, const AutoSubject& subject, const AutoBlocks& blocks, const AutoOptions& options,
                  const Context& context) {
  ChoiceOptions how;
  how.seed = static_cast<uint64_t>(options.seed);
  how.threads = context.threads;
  const LearningTask& task = subject.task;
  const KernelList& kernels = blocks.kernels;
  const BlockChoice choice = choose_blocks(kernels, task, split, how);
  const FitOptions fit = fit_options(split, subject, options, context);
  AutoSplit result;
  for (const KernelSum::Part& part : choice.sum.parts) {
    const Kernel& kernel = *kernels[part.kernel];
    result.chosen.push_back({kernel.block(), name_of(kernel.form()), part.weight / choice.sum.total()});
    result.parts.push_back({part.kernel, part.weight});
  }
  result.bent = choice.sum.bent;
  for (const BlockChoice::Step& step : choice.steps) result.steps.emplace_back(step.what, task.shown(step.score));
  result.search = task.shown(choice.score);
  result.test = test_of(choice.sum, choice.penalty, kernels, subject, split, fit, &result);
  for (const Block& block : blocks.blocks) {
    int64_t best = -1;
    for (int64_t k = 0; k < std::ssize(kernels); ++k) {
      if (kernels[k]->block() != block.name) continue;
      if (best < 0 || choice.singles[k].score > choice.singles[best].score) best = k;
    }
    if (best < 0) continue;
    const bool whole = choice.sum.parts.size() == 1 && choice.sum.parts[0].kernel == best && !choice.sum.bent;
    result.blocks.emplace_back(block.name, whole ? result.test
                                                 : test_of({{{best, 1.0}}, false}, choice.singles[best].penalty,
                                                           kernels, subject, split, fit, nullptr));
  }
  const auto learnt = [&](const ChosenBlock& one) { return one.block.starts_with("pretrained"); };
  if (std::none_of(result.chosen.begin(), result.chosen.end(), learnt)) return result;
  KernelList others;
  for (const auto& kernel : kernels) {
    if (!kernel->block().starts_with("pretrained")) others.push_back(kernel);
  }
  if (others.empty()) return result;
  const BlockChoice without = choose_blocks(others, task, split, how);
  result.without = test_of(without.sum, without.penalty, others, subject, split, fit, nullptr);
  return result;
}

// The chosen blocks side by side, each as its kernel sees its rows, by weight; reduced to a few columns.
Features embeddings_of(const AutoSplit& chosen, const KernelList& kernels, const AutoOptions& options,
                       const Context& context) {
  const auto seed = static_cast<uint64_t>(options.seed);
  std::map<const Features*, double> weights;  // of rows; a block may be chosen twice
  std::vector<const Features*> order;
  for (const auto& [k, weight] : chosen.parts) {
    const Features* rows = &kernels[k]->rows();
    if (weights.emplace(rows, 0).second) order.push_back(rows);
    weights[rows] += weight;
  }
  int64_t columns = 0, n = 0;
  std::vector<Features> reduced;
  for (const Features* rows : order) {
    reduced.push_back(leading_columns(*rows, kEmbeddingColumns, seed, context.threads));
    columns += reduced.back().columns();
    n = rows->rows();
  }
  Buffer<float> values(static_cast<size_t>(n * columns));
  int64_t first = 0;
  for (size_t b = 0; b < reduced.size(); ++b) {
    const int64_t d = reduced[b].columns();
    double square = 0;
    std::vector<float> row(static_cast<size_t>(d));
    for (int64_t i = 0; i < n; ++i) {
      reduced[b].copy_row(i, row.data());
      for (const float v : row) square += static_cast<double>(v) * v / static_cast<double>(n);
    }
    const double factor = square > 0 ? std::sqrt(weights[order[b]] / square) : 0;
    for (int64_t i = 0; i < n; ++i) {
      reduced[b].copy_row(i, row.data());
      for (int64_t c = 0; c < d; ++c) values[i * columns + first + c] = static_cast<float>(factor * row[c]);
    }
    first += d;
  }
  Features together = Features::dense(n, columns, std::move(values));
  if (reduced.size() == 1 && columns <= kEmbeddingColumns) return together;
  return leading_columns(together, kEmbeddingColumns, seed, context.threads);
}

// Of all rows that the fit has not seen: it learns from training and validation rows of the first split.
std::vector<int32_t> predict_others(const std::string& path, const Dataset& dataset, const AutoSubject& subject,
                                    const AutoSplit& chosen, const KernelList& kernels, const AutoOptions& options,
                                    const Context& context) {
  const Split& split = subject.splits.front();
  std::vector<int32_t> known = split.train;
  known.insert(known.end(), split.val.begin(), split.val.end());
  const std::vector<int32_t> learnt = known_rows(subject.task, known);
  std::vector<bool> seen(static_cast<size_t>(subject.task.rows()), false);
  for (const int32_t id : learnt) seen[id] = true;
  std::vector<int32_t> asked;
  for (int32_t id = 0; id < static_cast<int32_t>(seen.size()); ++id) {
    if (!seen[id]) asked.push_back(id);
  }
  if (asked.empty()) return asked;
  KernelSum sum;
  for (const auto& [kernel, weight] : chosen.parts) sum.add(kernel, weight);
  sum.bent = chosen.bent;
  const FitOptions how = fit_options(split, subject, options, context);
  std::vector<float> values = fit_rows(sum, chosen.penalty, kernels, subject.task, learnt, asked, how);
  FitOptions same = how;
  same.penalty_by_val = false;
  const FittedChoice calibrated = fit_choice(sum, chosen.penalty, kernels, subject.task, split, {}, same);
  calibrated.calibration.apply(subject.task, values);
  write_auto_predictions(path, dataset, subject, asked, values);
  return asked;
}

}  // namespace

AutoPlan plan_auto(const Dataset& dataset, const AutoOptions& options, const Context& context) {
  AutoPlan plan;
  const auto subject = naming(options.data, [&] { return auto_subject(dataset, options, context, plan.notes); });
  plan.labelled = subject.has_value();
  if (subject) {
    plan.metric = name_of(subject->task.metric);
    plan.splits = std::ssize(subject->splits);
    plan.split_source = subject->split_source;
    plan.blocks = auto_block_names(dataset, options.blocks);
  }
  plan.models = auto_models(dataset, options, plan.notes);
  if (!subject) plan.models.resize(std::min<size_t>(plan.models.size(), 1));
  if (plan.blocks.empty() && plan.models.empty())
    throw usage_error("nothing to do: no blocks, and nothing is pre-trained" +
                      (plan.notes.empty() ? "" : "; " + plan.notes.back()));
  return plan;
}

AutoResult automatic(const Dataset& dataset, const AutoOptions& options, const Context& context) {
  const Stopwatch watch;
  AutoResult result;
  result.plan = plan_auto(dataset, options, context);
  std::vector<std::string> ignored;
  const auto subject = auto_subject(dataset, options, context, ignored);
  context.watch.say_all(result.plan.notes);
  const RunDirectory run = open_run(dataset, options, context);
  keep_freed_memory();
  const AutoBlocks blocks = make_blocks(dataset, result.plan, options, context);
  Features embeddings;
  if (subject) {
    std::filesystem::create_directories(run.file("choices"));
    const int64_t total = std::ssize(subject->splits);
    for (int64_t s = 0; s < total; ++s) {
      context.watch.report({"splits", s, total, 0, "choosing blocks"});
      if (context.watch.stopping())
        throw Error(ErrorKind::interrupted,
                    fmt::format("{}: stopped after {} of {} splits; --resume goes on", options.run, s, total));
      const std::string path = fmt::format("{}/choices/split-{:03}.json", run.path(), s);
      std::optional<AutoSplit> done = read_choice(path);
      if (!done) {
        done = naming(fmt::format("split {}", s),
                      [&] { return work_on(subject->splits[s], *subject, blocks, options, context); });
        write_choice(path, *done);
      }
      result.splits.push_back(std::move(*done));
    }
    context.watch.report({"splits", total, total, 0, ""});
    for (const Split& split : subject->splits)
      result.majority += constant_score(subject->task, split) / static_cast<double>(total);
    result.errors = subject->task.metric == TaskMetric::rmse;
    judge(result);
    const std::string path = run.file("predictions.csv");
    if (!predict_others(path, dataset, *subject, result.splits.front(), blocks.kernels, options, context).empty())
      result.predictions = path;
    embeddings = embeddings_of(result.splits.front(), blocks.kernels, options, context);
  } else {
    if (blocks.blocks.empty()) throw numerical_error(options.data + ": no model could be pre-trained");
    embeddings = *blocks.blocks.front().rows;
    result.verdict =
        "There are no labels, so that nothing could be chosen or scored: these are the embeddings of a "
        "model pre-trained with settings that are good on most data.";
  }
  result.embeddings = run.file("embeddings.npy");
  write_auto_rows(result.embeddings, dataset, embeddings);
  std::visit([&](const auto& data) { write_map(run.path(), embeddings, data, context); }, dataset.content);
  result.seconds = watch.seconds();
  result.peak_bytes = peak_memory();
  write_file(run.file("results.json"), results_file(result).dump(2) + "\n");
  write_report(run.path(), context.watch);
  return result;
}

}  // namespace graphpae::run
