// What the verb auto learns and what it writes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/data/scaffold_split.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/io/row_files.h"
#include "graphpae/run/auto_parts.h"
#include "graphpae/run/evaluation_subject.h"
#include "graphpae/run/models.h"

namespace graphpae::run {
namespace {

constexpr int64_t kManyRows = 20000;  // labelled, of which fewer random splits are drawn

TaskMetric metric_of(const std::string& text) {
  if (text == "auto" || text == "accuracy") return TaskMetric::accuracy;
  if (text == "roc_auc") return TaskMetric::roc_auc;
  throw usage_error(fmt::format("--metric {}: expected auto, accuracy or roc_auc", text));
}

EvaluateOptions split_options(const AutoOptions& options, int64_t labelled) {
  EvaluateOptions how;
  how.split = options.split;
  how.num_splits = options.num_splits;
  how.split_seed = options.split_seed;
  if (how.num_splits == 0 && labelled > kManyRows && options.split.starts_with("random")) how.num_splits = 3;
  return how;
}

std::optional<AutoSubject> subject_of(const Graph& graph, const AutoOptions& options, std::vector<std::string>& notes) {
  const auto labelled = std::count_if(graph.labels().begin(), graph.labels().end(), [](int32_t y) { return y >= 0; });
  if (labelled == 0) return std::nullopt;
  if (graph.num_classes() < 2)
    throw data_error(fmt::format("the labels have {} class: nothing to tell apart", graph.num_classes()));
  AutoSubject subject;
  subject.task = class_task(graph.labels(), graph.num_classes(), metric_of(options.metric));
  for (int64_t c = 0; c < graph.num_classes(); ++c)
    subject.outputs.push_back(graph.class_names().empty() ? std::to_string(c) : graph.class_names()[c]);
  EvaluationFacts facts;
  subject.splits =
      choose_splits(split_options(options, labelled),
                    {.given = graph.splits().empty() ? graph.splits() : labelled_only(graph.splits(), graph.labels()),
                     .fallback = "random:60/20/20",
                     .fallback_note = "the data have no splits: random ones of 60/20/20 are drawn",
                     .missing = "splits; --split random:60/20/20 draws some",
                     .expected = "public or random:TRAIN/VAL/TEST, such as random:60/20/20",
                     .random_flags = "--num-splits and --split-seed",
                     .labels = [&] { return graph.labels(); }},
                    facts, notes);
  subject.split_source = facts.split_source;
  return subject;
}

std::optional<AutoSubject> subject_of(const GraphSet& set, const AutoOptions& options, const Context& context,
                                      std::vector<std::string>& notes) {
  const std::vector<double>& targets = set.parts().targets;
  std::vector<int32_t> labels(static_cast<size_t>(set.num_graphs()), -1);
  for (int64_t g = 0; g < set.num_graphs(); ++g) {
    const bool atoms = !set.has_structure() || set.parts().node_offsets[g] < set.parts().node_offsets[g + 1];
    for (int64_t t = 0; t < set.num_tasks() && atoms; ++t) {
      if (!std::isnan(targets[g * set.num_tasks() + t])) labels[g] = 0;
    }
  }
  const auto labelled = std::count(labels.begin(), labels.end(), 0);
  if (labelled == 0) return std::nullopt;
  if (options.metric == "accuracy")
    throw usage_error("--metric accuracy: classes of molecules are scored by ROC-AUC, numbers by RMSE");
  AutoSubject subject;
  subject.outputs = set.parts().task_names;
  subject.task = property_task({set.parts().task_names, targets});
  EvaluationFacts facts;
  subject.splits = choose_splits(split_options(options, labelled),
                                 {.given = set.parts().splits,
                                  .fallback = "scaffold",
                                  .fallback_note = "the data have no split: molecules are split 80/10/10 by scaffold",
                                  .missing = "split; --split scaffold or random:80/10/10 makes one",
                                  .expected = "public, scaffold or random:TRAIN/VAL/TEST, such as random:80/10/10",
                                  .random_flags = "--num-splits and --split-seed",
                                  .labels = [&] { return labels; },
                                  .scaffold = [&] { return scaffold_split(set, context.threads); }},
                                 facts, notes);
  subject.split_source = facts.split_source;
  return subject;
}

TextColumn row_names_of(const Dataset& dataset) {
  return dataset.is_graph() ? dataset.graph().node_names() : molecule_names(dataset.graph_set());
}

}  // namespace

std::optional<AutoSubject> auto_subject(const Dataset& dataset, const AutoOptions& options, const Context& context,
                                        std::vector<std::string>& notes) {
  std::optional<AutoSubject> subject = dataset.is_graph() ? subject_of(dataset.graph(), options, notes)
                                                          : subject_of(dataset.graph_set(), options, context, notes);
  if (!subject) {
    notes.push_back("the data have no labels: a model is pre-trained and its embeddings are written");
    return subject;
  }
  for (size_t s = 0; s < subject->splits.size(); ++s) {
    const Split& split = subject->splits[s];
    for (const auto& [part, ids] :
         {std::pair{"training", &split.train}, std::pair{"validation", &split.val}, std::pair{"test", &split.test}}) {
      if (known_rows(subject->task, *ids).empty())
        throw data_error(fmt::format("split {}: has no labelled {} rows", s, part));
    }
  }
  return subject;
}

void write_auto_predictions(const std::string& path, const Dataset& dataset, const AutoSubject& subject,
                            const std::vector<int32_t>& rows, const std::vector<float>& values) {
  const LearningTask& task = subject.task;
  PredictionTable table;
  table.row_name = dataset.is_graph() ? "node" : row_names_of(dataset).empty() ? "row" : "smiles";
  const TextColumn names = row_names_of(dataset);
  for (const int32_t row : rows) {
    if (names.empty())
      table.rows.push_back(std::to_string(row));
    else
      table.rows.push_back(names[row]);
  }
  if (task.classes) {
    table.label_name = "class";
    for (size_t i = 0; i < rows.size(); ++i) {
      const float* first = values.data() + i * task.outputs;
      table.labels.push_back(subject.outputs[std::max_element(first, first + task.outputs) - first]);
    }
  }
  for (const std::string& output : subject.outputs)
    table.columns.push_back(task.metric == TaskMetric::rmse ? output : "p_" + output);
  const std::vector<double> numbers(values.begin(), values.end());
  table.values = numbers;
  graphpae::write_predictions(path, table);
}

void write_auto_rows(const std::string& path, const Dataset& dataset, const Features& rows) {
  Buffer<float> values(static_cast<size_t>(rows.rows() * rows.columns()));
  for (int64_t i = 0; i < rows.rows(); ++i) rows.copy_row(i, values.data() + i * rows.columns());
  write_embeddings(path, values, rows.rows(), rows.columns(), row_names_of(dataset),
                   dataset.is_graph() ? "node" : "molecule");
}

}  // namespace graphpae::run
