#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/io/text.h"
#include "graphpae/report/result_numbers.h"
#include "graphpae/report/sections.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

// "label: 340 positive, 150 negative, 3 missing"
std::string task_text(const Json& task) {
  const auto number = [&](const char* key) {
    const Json& value = results::at(task, key);
    return value.is_number() ? value.get<double>() : 0;
  };
  const auto count = [&](const char* key) { return grouped(static_cast<int64_t>(number(key))); };
  const std::string name = results::text_at(task, "name");
  if (results::at(task, "binary") == true)
    return fmt::format("{}: {} positive, {} negative, {} missing", name, count("positives"), count("negatives"),
                       count("missing"));
  return fmt::format("{}: mean {:.4g}, deviation {:.4g}, {} missing", name, number("mean"), number("deviation"),
                     count("missing"));
}

}  // namespace

void add_data_facts(Page& page, const RunRecord& run) {
  const Json& facts = results::at(run.environment, "data_facts");
  if (!facts.is_object()) return;
  page.add_heading("Data");
  Page::Rows rows;
  for (const auto& [key, value] : facts.items()) {
    if (value.is_number_integer())
      rows.push_back({with_blanks(key), grouped(value.get<int64_t>())});
    else if (value.is_number())
      rows.push_back({with_blanks(key), fmt::format("{:.4g}", value.get<double>())});
    else if (value.is_string())
      rows.push_back({with_blanks(key), value.get<std::string>()});
  }
  page.add_table({run.environment_text("data"), ""}, rows);
  const Json& tasks = results::at(facts, "tasks");
  if (!tasks.is_array() || tasks.empty()) return;
  Page::Rows lines;
  for (const Json& task : tasks) lines.push_back({task_text(task)});
  if (lines.size() == 1)
    page.add_text("Target " + lines.front().front() + ".");
  else
    page.add_details(fmt::format("{} targets", lines.size()), {"target"}, lines);
}

void add_score_charts(Page& page, const std::vector<ResultScore>& scores) {
  std::vector<std::pair<std::string, std::string>> kinds;  // protocol, metric
  for (const ResultScore& s : scores) {
    if (std::find(kinds.begin(), kinds.end(), std::pair(s.protocol, s.metric)) == kinds.end())
      kinds.emplace_back(s.protocol, s.metric);
  }
  for (const auto& [protocol, metric] : kinds) {
    Chart chart{metric + (protocol.empty() ? "" : ", protocol " + protocol), metric, "", Chart::Kind::scores};
    ChartSeries series{metric, {}};
    for (const ResultScore& s : scores) {
      if (s.protocol != protocol || s.metric != metric || std::isnan(s.value)) continue;
      chart.points.push_back(s.row);
      series.values.push_back(s.value);
      series.low.push_back(s.low);
      series.high.push_back(s.high);
    }
    if (chart.points.size() < 2) continue;
    chart.series.push_back(std::move(series));
    page.add_chart(chart);
  }
}

}  // namespace graphpae
