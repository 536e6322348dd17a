#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"
#include "graphpae/report/binary_curves.h"
#include "graphpae/report/sections.h"

namespace graphpae {
namespace {

constexpr size_t kCurvePoints = 150, kBins = 10;
constexpr size_t kCurves = 20;  // as many as there are colours

// The test rows of a target of two classes.
struct BinaryTarget {
  std::string name;
  std::vector<double> scores;
  std::vector<bool> labels;

  bool has_both() const {
    return std::find(labels.begin(), labels.end(), true) != labels.end() &&
           std::find(labels.begin(), labels.end(), false) != labels.end();
  }
};

// test_predictions.csv: row, target, label, prediction. Targets with other labels than 0 and 1, or predictions that are
// no probabilities, are numbers and left out.
std::vector<BinaryTarget> read_targets(const std::string& path, const std::string& part) {
  std::vector<BinaryTarget> targets;
  std::vector<std::string> numbers, fields;
  LineReader reader(path);
  std::string_view line;
  reader.next(line);  // the head
  while (reader.next(line)) {
    if (!split_fields(line, ',', fields) || fields.size() != 4) continue;
    const auto label = parse_real(fields[2]), score = parse_real(fields[3]);
    if (!label || !score) continue;
    if ((*label != 0 && *label != 1) || *score < 0 || *score > 1) {
      numbers.push_back(fields[1]);
      continue;
    }
    const std::string name = part.empty() || part == fields[1] ? fields[1] : part;
    if (targets.empty() || targets.back().name != name) targets.push_back({name, {}, {}});
    targets.back().scores.push_back(*score);
    targets.back().labels.push_back(*label == 1);
  }
  std::erase_if(targets, [&](const BinaryTarget& target) {
    return !target.has_both() || std::find(numbers.begin(), numbers.end(), target.name) != numbers.end();
  });
  return targets;
}

void add_curve_chart(Page& page, Chart chart, const std::vector<BinaryTarget>& targets, const auto& curve_of,
                     const char* reference) {
  chart.kind = Chart::Kind::curves;
  for (const BinaryTarget& target : targets) {
    const PlaneCurve curve = curve_of(target);
    ChartSeries series{target.name, curve.y};
    series.x = curve.x;
    chart.series.push_back(std::move(series));
  }
  if (reference != nullptr) {
    ChartSeries series{reference, {0, 1}};
    series.x = {0, 1};
    series.reference = true;
    chart.series.push_back(std::move(series));
  }
  page.add_chart(chart);
}

}  // namespace

void add_prediction_charts(Page& page, const RunRecord& run) {
  std::vector<BinaryTarget> targets;
  for (const RunRecord::Part& part : run.parts) {
    const std::string path = part.directory + "/test_predictions.csv";
    if (!std::filesystem::exists(path)) continue;
    for (BinaryTarget& target : read_targets(path, part.name)) targets.push_back(std::move(target));
  }
  if (targets.empty()) return;
  page.add_heading("Predictions on the test part");
  Page::Rows rows;
  for (const BinaryTarget& target : targets) {
    const auto positives = std::count(target.labels.begin(), target.labels.end(), true);
    rows.push_back({target.name, grouped(static_cast<int64_t>(target.labels.size())), grouped(positives),
                    fmt::format("{:.4f}", average_precision(target.scores, target.labels)),
                    fmt::format("{:.4f}", brier_score(target.scores, target.labels))});
  }
  page.add_table({"", "rows", "positive", "average precision", "Brier score"}, rows);
  if (targets.size() > kCurves) {
    page.add_text(fmt::format("The curves are those of the first {} of {}.", kCurves, targets.size()));
    targets.resize(kCurves);
  }
  add_curve_chart(
      page, {"ROC: positives found for negatives taken for them", "share of negatives", "share of positives"}, targets,
      [](const BinaryTarget& t) { return roc_curve(t.scores, t.labels, kCurvePoints); }, "chance");
  add_curve_chart(
      page, {"Precision and recall", "recall: share of positives found", "precision: share of finds that are positive"},
      targets, [](const BinaryTarget& t) { return precision_recall_curve(t.scores, t.labels, kCurvePoints); }, nullptr);
  add_curve_chart(
      page, {"Calibration: groups of rows with like predictions", "mean prediction", "share of positives"}, targets,
      [](const BinaryTarget& t) {
        return calibration_curve(t.scores, t.labels, std::clamp<size_t>(t.scores.size() / 10, 2, kBins));
      },
      "as predicted");
}

}  // namespace graphpae
