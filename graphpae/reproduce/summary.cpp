#include "graphpae/reproduce/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace graphpae {
namespace {

using Chosen = std::vector<const Record*>;  // of one cell, by seed

// The records of a cell: one per seed, all with the same number of epochs.
Chosen choose(const std::vector<Record>& records, size_t row, size_t variant, const SummaryOptions& options) {
  std::map<int64_t, std::map<int64_t, const Record*>> found;  // by epochs and seed
  const JobIdentity job = options.job_of(row, variant, 0).identity;
  for (const Record& record : records) {
    if (!answers_but_for_seed_and_epochs(record, job)) continue;
    if (!options.any_epochs && record.identity.epochs() != job.epochs()) continue;
    const int64_t seed = record.identity.seed();
    if (seed >= options.seeds) continue;
    const Record*& newest = found[record.identity.epochs()][seed];
    if (newest == nullptr || newest->date <= record.date) newest = &record;
  }
  Chosen chosen;
  if (found.empty()) return chosen;
  for (const auto& [seed, record] : found.rbegin()->second) chosen.push_back(record);
  // Scores of data that differ do not belong together.
  const std::string hash = chosen.front()->identity.data_hash;
  std::erase_if(chosen, [&](const Record* record) { return record->identity.data_hash != hash; });
  return chosen;
}

std::vector<double> all_scores(const Chosen& records, const std::string& protocol, const std::string& target) {
  std::vector<double> values;
  for (const Record* record : records) {
    const ProtocolRecord* measured = value_at(record->protocols, protocol);
    if (measured == nullptr) continue;
    if (target.empty()) {
      for (const auto& split : measured->scores) values.insert(values.end(), split.begin(), split.end());
    } else if (const double* score = value_at(measured->targets, target)) {
      values.push_back(*score);
    }
  }
  return values;
}

// The honest one first.
std::vector<std::string> protocols_of(const Chosen& records) {
  std::vector<std::string> names;
  for (const char* name : {"strict", "paper"}) {
    const auto has = [&](const Record* record) { return record->protocols.contains(name); };
    if (std::any_of(records.begin(), records.end(), has)) names.emplace_back(name);
  }
  return names;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean(const std::vector<double>& values) { return statistics(values).mean; }

std::vector<BaselineLine> baselines_of(const Chosen& records) {
  std::vector<BaselineLine> lines;
  for (const char* name : {"untrained", "raw_features", "raw_positions", "majority"}) {
    BaselineLine line{name, {}};
    for (const std::string& protocol : protocols_of(records)) {
      std::vector<double> means, deviations;
      for (const Record* record : records) {
        const ProtocolRecord* measured = value_at(record->protocols, protocol);
        const Baseline* baseline = measured == nullptr ? nullptr : value_at(measured->baselines, name);
        if (baseline == nullptr) continue;
        means.push_back(baseline->mean);
        deviations.push_back(baseline->deviation);
      }
      if (means.empty()) continue;
      Statistics all = statistics(means);
      // With one split the deviation is that of the seeds, else that of the splits.
      if (const double within = mean(deviations); within > 0) all.deviation = within;
      line.protocols[protocol] = all;
    }
    if (!line.protocols.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// Scores of seeds that both have, pair by pair.
std::optional<VariantComparison> compare(const Chosen& variant, const Chosen& reference, const std::string& protocol,
                                         const std::string& target, bool smaller) {
  std::vector<std::pair<const ProtocolRecord*, const ProtocolRecord*>> both;
  for (const Record* a : variant) {
    for (const Record* b : reference) {
      // Runs of the same kind are compared after the same number of epochs.
      if (a->identity.seed() != b->identity.seed()) continue;
      if (a->identity.verb == b->identity.verb && a->identity.epochs() != b->identity.epochs()) continue;
      const ProtocolRecord *one = value_at(a->protocols, protocol), *other = value_at(b->protocols, protocol);
      if (one != nullptr && other != nullptr) both.emplace_back(one, other);
    }
  }
  if (both.empty()) return std::nullopt;
  const size_t splits = both.front().first->scores.size(),
               probes = splits > 0 ? both.front().first->scores[0].size() : 0;
  for (const auto& [a, b] : both) {
    for (const ProtocolRecord* one : {a, b}) {
      if (one->scores.size() != splits || splits == 0) return std::nullopt;
      if (splits == 1 && both.size() == 1 && one->scores[0].size() != probes) return std::nullopt;
    }
  }
  VariantComparison result;
  result.protocol = protocol;
  std::vector<double> differences;
  if (!target.empty()) {
    result.unit = "seeds";
    for (const auto& [a, b] : both) {
      const double *one = value_at(a->targets, target), *other = value_at(b->targets, target);
      if (one == nullptr || other == nullptr) return std::nullopt;
      differences.push_back(*one - *other);
    }
  } else if (splits > 1) {
    result.unit = "splits";
    for (size_t s = 0; s < splits; ++s) {
      std::vector<double> of_split;
      for (const auto& [a, b] : both) of_split.push_back(mean(a->scores[s]) - mean(b->scores[s]));
      differences.push_back(mean(of_split));
    }
  } else if (both.size() > 1) {
    result.unit = "seeds";
    for (const auto& [a, b] : both) differences.push_back(mean(a->scores[0]) - mean(b->scores[0]));
  } else {
    result.unit = probes > 1 ? "probes" : "seeds";
    for (size_t p = 0; p < probes; ++p)
      differences.push_back(both[0].first->scores[0][p] - both[0].second->scores[0][p]);
  }
  result.difference = statistics(differences);
  result.pairs = static_cast<int64_t>(differences.size());
  for (const double difference : differences) {
    if (difference == 0) continue;
    ++((difference < 0) == smaller ? result.better : result.worse);
  }
  if (result.pairs < 2) return result;
  const double error = result.difference.deviation / std::sqrt(static_cast<double>(result.pairs));
  if (error > 0) result.t_test = student_t_two_sided(result.difference.mean / error, result.pairs - 1);
  result.sign_test = sign_test(result.better, result.worse);
  return result;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

void note_origin(Summary& summary, const Chosen& records, std::set<const Record*>& counted) {
  for (const Record* record : records) {
    if (!counted.insert(record).second) continue;
    add_once(summary.commits, record->commit);
    add_once(summary.machines,
             fmt::format("{}, {} thread{}", record->machine, record->threads, record->threads == 1 ? "" : "s"));
    summary.seconds += record->seconds;
    if (summary.first_date.empty() || record->date < summary.first_date) summary.first_date = record->date;
    summary.last_date = std::max(summary.last_date, record->date);
  }
}

SummaryLine line_of(const Experiment& experiment, size_t row, size_t variant, const Chosen& records,
                    const std::string& target) {
  SummaryLine line;
  line.row = row;
  line.variant = variant;
  line.target = target;
  const ExperimentVariant& of = experiment.variants[variant];
  if (const Published* published = value_at(of.published, target.empty() ? experiment.rows[row].name : target))
    line.published = *published;
  if (records.empty()) return line;
  line.metric = records.front()->metric;
  line.data = records.front()->identity.data;
  line.epochs = records.front()->identity.epochs();
  line.seeds = static_cast<int64_t>(records.size());
  std::vector<double> seconds;
  for (const Record* record : records) {
    seconds.push_back(record->seconds);
    line.peak_rss_bytes = std::max(line.peak_rss_bytes, record->peak_rss_bytes);
  }
  line.seconds = median(seconds);
  for (const std::string& protocol : protocols_of(records)) {
    const std::vector<double> scores = all_scores(records, protocol, target);
    if (!scores.empty()) line.protocols[protocol] = statistics(scores);
  }
  if (target.empty()) line.baselines = baselines_of(records);
  return line;
}

}  // namespace

double shown_factor(const std::string& metric) { return metric == "accuracy" || metric == "rocauc" ? 100 : 1; }
int shown_decimals(const std::string& metric) { return metric == "accuracy" || metric == "rocauc" ? 2 : 3; }
bool smaller_is_better(const std::string& metric) { return metric.starts_with("rmse") || metric.starts_with("mae"); }

std::string metric_title(const std::string& metric) {
  if (metric == "accuracy") return "accuracy in %";
  if (metric == "rocauc") return "ROC-AUC in %";
  if (metric == "rmse") return "RMSE, smaller is better";
  if (metric == "mae") return "MAE, smaller is better";
  if (metric == "mae_paper") return "MAE in the units of the paper, smaller is better";
  return metric;
}

Summary summarise(const Experiment& experiment, const std::vector<Record>& records, const SummaryOptions& options) {
  Summary summary;
  summary.experiment = experiment;
  std::set<const Record*> counted;
  size_t reference = experiment.variants.size();
  for (size_t v = 0; v < experiment.variants.size(); ++v) {
    if (experiment.variants[v].name == experiment.reference) reference = v;
  }
  for (size_t row = 0; row < experiment.rows.size(); ++row) {
    std::vector<Chosen> cells;
    for (size_t v = 0; v < experiment.variants.size(); ++v) cells.push_back(choose(records, row, v, options));
    const std::vector<std::string>& named = experiment.rows[row].targets;
    for (const std::string& target : named.empty() ? std::vector<std::string>{""} : named) {
      for (size_t v = 0; v < experiment.variants.size(); ++v) {
        SummaryLine line = line_of(experiment, row, v, cells[v], target);
        line.wanted_seeds = experiment.seeds;
        line.recipe_epochs = recipe_epochs(experiment, row, v);
        if (line.protocols.empty()) {
          if (options.row_state) line.state = options.row_state(row);
          line.whole_row = !line.state.empty();
          if (!line.whole_row && options.cell_state) line.state = options.cell_state(row, v);
        }
        if (v != reference && reference < cells.size()) {
          for (const std::string& protocol : protocols_of(cells[v])) {
            if (auto compared = compare(cells[v], cells[reference], protocol, target, smaller_is_better(line.metric)))
              line.comparisons.push_back(std::move(*compared));
          }
        }
        summary.lines.push_back(std::move(line));
        note_origin(summary, cells[v], counted);
      }
    }
  }
  return summary;
}

}  // namespace graphpae
