// What the evaluation of nodes and that of molecules do differently, and what planning either shares.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graphpae/blocks/block.h"
#include "graphpae/core/split.h"
#include "graphpae/evaluate/graph_protocols.h"
#include "graphpae/evaluate/tuned_protocol.h"
#include "graphpae/run/evaluation.h"

namespace graphpae::run {

// What a probe made of rows: scores, one per protocol that is asked for, and what it predicted under the strict one, of
// which combinations are made. Both pointers are null if it cannot be combined.
struct ProbedRows {
  std::vector<ProtocolScores> scores;
  std::shared_ptr<const TunedEvaluation> nodes;
  std::shared_ptr<const std::vector<GraphScores>> molecules;  // [splits]

  bool combinable() const { return nodes != nullptr || molecules != nullptr; }
};

// Rows that learning curves are drawn of.
struct CurveRow {
  std::string key, title;
  std::vector<ProbeBlock> rows;  // one, or one of each run
};

// Rows, labels and splits that a probe may be given.
class EvaluationSubject {
 public:
  virtual ~EvaluationSubject() = default;
  // Of rows [N,D]; `what` names them to whom watches, who sees percents.
  virtual ProbedRows probe(const Features& rows, const std::vector<Protocol>& protocols, const std::string& what,
                           const Watch& watch) const = 0;
  // Of what knows nothing about the rows, and its name.
  virtual std::vector<ProtocolScores> constant(const std::vector<Protocol>& protocols) const = 0;
  virtual std::string constant_title() const = 0;
  virtual Features raw_features(const Settings& settings) const = 0;

  // Blocks that need no training: none if the probe is not the tuned one. The strict protocol.
  virtual std::vector<std::string> block_names() const = 0;
  virtual Block block(const std::string& name) const = 0;
  virtual ProbedRows probe_block(const Block& block, const Watch& watch) const = 0;
  // Together, with weights chosen on validation rows.
  virtual ProbedRows combined(std::span<const ProbedRows* const> members) const = 0;
  // The first minus the second (of errors: the second minus the first), pair by pair.
  virtual PairedDifference difference(const ProbedRows& first, const ProbedRows& second) const = 0;
  virtual std::optional<FewLabels> few_labels(const std::vector<CurveRow>&, const std::vector<int64_t>&,
                                              const Watch&) const {
    return std::nullopt;
  }
};

bool asks_for(const std::vector<Protocol>& protocols, Protocol protocol);

// Options of evaluate/ with these protocols.
template <class Options>
Options with(Options options, const std::vector<Protocol>& protocols) {
  options.strict = asks_for(protocols, Protocol::strict);
  options.paper = asks_for(protocols, Protocol::paper);
  return options;
}

// The texts of the options that mean the same for both. Throws a usage error that lists the choices.
void read_choices(const EvaluateOptions& options, EvaluationPlan& plan);

// Which splits there may be.
struct SplitChoices {
  std::vector<Split> given;                      // of the data
  std::string fallback, fallback_note;           // what is done if there are none
  bool stratified_fallback = false;              // within every class
  std::string missing;                           // what to do if they are asked for all the same
  std::string expected;                          // what --split may be
  std::string random_flags;                      // flags that need random splits
  std::function<std::vector<int32_t>()> labels;  // [N] for random splits; below 0: not in any
  std::function<Split()> scaffold = {};          // null: there is no such split
};

// Fills in where they come from, too.
std::vector<Split> choose_splits(const EvaluateOptions& options, const SplitChoices& choices, EvaluationFacts& facts,
                                 std::vector<std::string>& notes);

// Splits of the nodes of a graph as options say; those of the data with labelled nodes only. Without any, random ones
// that keep the shares of classes: the same for all verbs.
std::vector<Split> node_splits(const Graph& graph, const EvaluateOptions& options, EvaluationFacts& facts,
                               std::vector<std::string>& notes);

std::vector<std::array<int64_t, 3>> sizes_of(const std::vector<Split>& splits);

// Rows that were probed, by key, for the verdict.
struct ProbedBlock {
  std::string key, title;
  ProbedRows rows;
};
// Of at least one block; `embeddings` of each run.
BlockVerdict judge(const EvaluationPlan& plan, const std::vector<ProbedRows>& embeddings,
                   const std::vector<ProbedBlock>& blocks);

}  // namespace graphpae::run
