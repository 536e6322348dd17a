
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/data/node_table.h"
#include "graphpae/data/scaffold_split.h"
#include "graphpae/run/evaluation_subject.h"
#include "graphpae/run/finetune.h"
#include "graphpae/run/models.h"
#include "graphpae/train/molecule_objective.h"
#include "graphpae/train/node_objective.h"

namespace graphpae::run {
namespace {

void score_molecules(MoleculeObjective& objective, Predictor& predictor, PartResult& result) {
  const TargetScores validation = objective.score(predictor, objective.split().val);
  const TargetScores test = objective.score(predictor, objective.split().test);
  const PredictorTasks tasks = objective.tasks();
  result.metric = metric_name(objective.metric());
  result.validation = validation.scaled;
  result.test_mean = test.mean;
  for (int64_t t = 0; t < tasks.size(); ++t) {
    const TargetScore& score = test.tasks[t];
    result.test.emplace_back(tasks.names[t], score.of(objective.metric()));
    TargetResult target;
    target.name = tasks.names[t];
    target.classes = tasks.kind == OutputKind::classes;
    target.rocauc = score.rocauc;
    if (!target.classes) {
      const TargetUnit& unit = tasks.units[t];
      target.unit = unit.name;
      target.paper_unit = unit.paper;
      target.mae = score.mae;
      target.rmse = score.rmse;
      target.training_std = objective.deviations()[t];
      if (score.mae) target.mae_over_std = *score.mae / target.training_std;
      if (score.mae) target.mae_paper = *score.mae * unit.to_paper;
    }
    result.targets.push_back(target);
    for (size_t k = 0; k < score.rows.size(); ++k)
      result.test_rows.push_back({score.rows[k], tasks.names[t], score.labels[k], score.predictions[k]});
  }
}

void score_nodes(NodeObjective& objective, Predictor& predictor, PartResult& result) {
  result.metric = "accuracy";
  result.test_mean = objective.accuracy(predictor, objective.split().test);
  result.validation = objective.accuracy(predictor, objective.split().val);
  result.test.emplace_back("accuracy", result.test_mean);
  const std::vector<std::string> classes = objective.tasks().names;
  if (classes.size() != 2) return;
  const NodeObjective::Shares shares = objective.shares(predictor, objective.split().test);
  for (size_t k = 0; k < shares.nodes.size(); ++k)
    result.test_rows.push_back(
        {shares.nodes[k], classes[1], static_cast<double>(shares.labels[k]), shares.values[2 * k + 1]});
}

// A name as a directory: what a file system may not like becomes _.
std::string directory_name(const std::string& name) {
  std::string text = name.substr(0, 100);
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '+') c = '_';
  }
  return text;
}

// Orbital energies are below one Hartree and above one eV.
void doubt_units(const std::vector<std::string>& names, const std::vector<double>& values,
                 const std::vector<TargetUnit>& units, std::vector<std::string>& notes) {
  for (size_t t = 0; t < names.size(); ++t) {
    if (units[t].name != "Hartree" || (names[t] != "homo" && names[t] != "lumo" && names[t] != "gap")) continue;
    double sum = 0, count = 0;
    for (size_t k = t; k < values.size(); k += names.size()) {
      if (std::isnan(values[k])) continue;
      sum += std::abs(values[k]);
      ++count;
    }
    if (sum > count)
      notes.push_back(
          fmt::format("target '{}' is {:.3g} on average, too much for an orbital energy in Hartree; if the file has "
                      "other units than MoleculeNet's QM9, use --units none",
                      names[t], sum / count));
  }
}

// The names among `all` that are wanted, as places; all if none is.
std::vector<int64_t> choose_targets(const std::vector<std::string>& all, const std::vector<std::string>& wanted) {
  std::vector<int64_t> places(all.size());
  std::iota(places.begin(), places.end(), 0);
  if (wanted.empty()) return places;
  places.clear();
  for (const std::string& name : wanted) {
    const auto place = std::find(all.begin(), all.end(), name);
    if (place == all.end())
      throw usage_error(fmt::format("--targets: no target '{}'{}; there are {}", name, did_you_mean(name, all),
                                    fmt::join(all, ", ")));
    const int64_t t = place - all.begin();
    if (std::find(places.begin(), places.end(), t) != places.end())
      throw usage_error(fmt::format("--targets: '{}' is named twice", name));
    places.push_back(t);
  }
  return places;
}

// As evaluation splits the nodes, or as this run did when it began.
std::vector<Split> finetune_splits(const Graph& graph, const FinetuneOptions& options, EvaluationFacts& facts,
                                   std::vector<std::string>& notes) {
  const std::string kept = options.run + "/splits.npz";
  if (options.goes_on() && std::filesystem::exists(kept)) {
    facts.split_source = "random, as the run began";
    return read_splits(kept, graph.num_nodes());
  }
  if (graph.splits().empty() && graph.labels().empty())
    throw data_error("the data have no labels; --labels names a file of them");
  const bool of_data = options.splits.split.empty() || options.splits.split == "public";
  if (!of_data || graph.splits().empty()) return node_splits(graph, options.splits, facts, notes);
  if (!graph.labels().empty()) node_splits(graph, options.splits, facts, notes);  // says what does not go together
  facts.split_source = "from the data";
  return graph.splits();
}

}  // namespace

std::vector<FinetunePart> finetune_parts(const GraphSet& set, const FinetuneOptions& options,
                                         const InputOptions& inputs, std::vector<std::string>& notes) {
  const auto input = prepare(set, options.settings, inputs);
  const GraphSetParts& data = set.parts();
  if (data.task_names.empty()) throw data_error("the data have no labels; --tasks names columns of them");
  if (data.splits.size() > 1) notes.push_back(fmt::format("the first of {} splits is used", data.splits.size()));
  Split split;
  if (data.splits.empty()) {
    notes.push_back("the data have no split: molecules are split 80/10/10 by scaffold");
    split = scaffold_split(set, input->threads());
  } else {
    split = data.splits.front();
  }
  const std::vector<int64_t> chosen = choose_targets(data.task_names, options.parts.targets);
  std::vector<std::string> names;
  for (const int64_t t : chosen) names.push_back(data.task_names[t]);
  const std::vector<TargetUnit> units = target_units(options.finetune.units, names);

  // Columns `first` .. `last` of those chosen.
  const auto part_of = [&](size_t first, size_t last) {
    const std::vector<std::string> part_names(names.begin() + static_cast<int64_t>(first),
                                              names.begin() + static_cast<int64_t>(last));
    const std::vector<TargetUnit> part_units(units.begin() + static_cast<int64_t>(first),
                                             units.begin() + static_cast<int64_t>(last));
    std::vector<double> values;
    for (int64_t g = 0; g < data.num_graphs; ++g) {
      for (size_t k = first; k < last; ++k) values.push_back(data.targets[g * set.num_tasks() + chosen[k]]);
    }
    doubt_units(part_names, values, part_units, notes);
    const auto objective =
        std::make_shared<MoleculeObjective>(input, part_names, std::move(values), split, options.settings,
                                            options.finetune, featurizer_of(input->shape()), part_units);
    return FinetunePart{"", "", objective, [objective](Predictor& predictor, PartResult& result) {
                          score_molecules(*objective, predictor, result);
                        }};
  };
  if (!options.parts.one_at_a_time || names.size() == 1) return {part_of(0, names.size())};
  std::vector<FinetunePart> parts;
  for (size_t t = 0; t < names.size(); ++t) {
    parts.push_back(part_of(t, t + 1));
    parts.back().name = names[t];
    std::string directory = "targets/" + directory_name(names[t]);
    if (std::any_of(parts.begin(), parts.end(), [&](const FinetunePart& p) { return p.directory == directory; }))
      directory += fmt::format(".{}", t);
    parts.back().directory = directory;
  }
  return parts;
}

std::vector<FinetunePart> finetune_parts(const Graph& graph, const FinetuneOptions& options, const InputOptions& inputs,
                                         std::vector<std::string>& notes) {
  const FinetuneSettings& finetune = options.finetune;
  const GraphInput input = make_input(graph, options.settings, inputs);
  if (!options.parts.targets.empty() || options.parts.one_at_a_time)
    throw usage_error("--targets and --one-at-a-time are for molecules: nodes have one label");
  if (!finetune.units.empty() && finetune.units != "none")
    throw usage_error("units are for molecules: classes of nodes have none");
  EvaluationFacts facts;
  const std::vector<Split> splits = finetune_splits(graph, options, facts, notes);
  std::vector<FinetunePart> parts;
  for (size_t s = 0; s < splits.size(); ++s) {
    const auto objective =
        std::make_shared<NodeObjective>(graph, input, splits[s], static_cast<int64_t>(s), options.settings, finetune);
    FinetunePart part{"", "", objective, [objective](Predictor& predictor, PartResult& result) {
                        score_nodes(*objective, predictor, result);
                      }};
    part.split_source = facts.split_source;
    part.split_seed = facts.split_seed;
    if (facts.split_seed) part.drawn = splits[s];
    if (splits.size() > 1) {
      part.name = fmt::format("split {}", s);
      part.directory = fmt::format("splits/{}", s);
    }
    parts.push_back(part);
  }
  return parts;
}

}  // namespace graphpae::run
