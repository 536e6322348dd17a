#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/io/text.h"
#include "graphpae/report/page.h"
#include "graphpae/reproduce/budget.h"
#include "graphpae/reproduce/summary.h"

namespace graphpae {
namespace {

// Decimals of large numbers say nothing.
int decimals_of(double value, const std::string& metric) {
  return std::abs(value) >= 1000 ? 0 : shown_decimals(metric);
}

std::string number(double value, const std::string& metric) {
  const double shown = shown_factor(metric) * value;
  return fmt::format("{:.{}f}", shown, decimals_of(shown, metric));
}

std::string spread(const std::map<std::string, Statistics>& protocols, const std::string& protocol,
                   const std::string& metric) {
  const Statistics* s = value_at(protocols, protocol);
  if (s == nullptr) return "";
  return number(s->mean, metric) + (s->deviation == 0 ? "" : " ± " + number(s->deviation, metric));
}

// What published numbers are compared with: the paper's protocol if that was measured.
const Statistics* comparable(const SummaryLine& line) {
  const Statistics* paper = value_at(line.protocols, "paper");
  return paper != nullptr ? paper : value_at(line.protocols, "strict");
}

std::optional<double> published_difference(const SummaryLine& line) {
  const Statistics* ours = comparable(line);
  if (ours == nullptr || !line.published) return std::nullopt;
  return shown_factor(line.metric) * ours->mean - line.published->mean;
}

std::string part_of(int64_t some, int64_t all) {
  return some == all ? std::to_string(all) : fmt::format("{} of {}", some, all);
}

std::string p_text(const std::optional<double>& p) {
  if (!p) return "";
  return *p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", *p);
}

std::string baseline_title(const std::string& name) {
  if (name == "untrained") return "untrained encoder";
  if (name == "majority") return "majority or constant";
  return with_blanks(name);
}

std::string row_title(const Summary& summary, const SummaryLine& line) {
  const ExperimentRow& row = summary.experiment.rows[line.row];
  return line.target.empty() ? row.name : fmt::format("{} {}", row.name, line.target);
}

size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// What stands below a table, where it comes from last.
std::vector<std::string> explanations(const Summary& summary) {
  std::vector<std::string> lines, metrics;
  for (const SummaryLine& line : summary.lines) {
    const std::string title = metric_title(line.metric);
    if (!title.empty() && std::find(metrics.begin(), metrics.end(), title) == metrics.end()) metrics.push_back(title);
  }
  if (!metrics.empty())
    lines.push_back(
        fmt::format("{}. Mean ± standard deviation over splits, probes and seeds. A run: training and evaluation; "
                    "memory: the peak of training.",
                    fmt::join(metrics, "; ")));
  const bool nodes = std::any_of(summary.lines.begin(), summary.lines.end(), [](const SummaryLine& line) {
    return line.metric == "accuracy" && line.protocols.contains("paper");
  });
  if (nodes)
    lines.emplace_back(
        "strict is honest; paper is INFLATED (test nodes that were trained on, test labels that choose) and is what "
        "published numbers are measured with.");
  for (const ExperimentVariant& variant : summary.experiment.variants) {
    if (!variant.note.empty()) lines.push_back(fmt::format("{}: {}.", variant.name, variant.note));
  }
  for (const ExperimentRow& row : summary.experiment.rows) {
    if (!row.note.empty()) lines.push_back(fmt::format("{}: {}.", row.name, row.note));
  }
  lines.insert(lines.end(), summary.experiment.notes.begin(), summary.experiment.notes.end());
  lines.insert(lines.end(), summary.notes.begin(), summary.notes.end());
  if (summary.commits.empty()) return lines;
  const std::string first = summary.first_date.substr(0, 10), last = summary.last_date.substr(0, 10);
  lines.push_back(fmt::format("Commit{} {}; {}; {}; {} of computing.", summary.commits.size() > 1 ? "s" : "",
                              fmt::join(summary.commits, ", "), fmt::join(summary.machines, "; "),
                              first == last ? first : first + " to " + last, duration_text(summary.seconds)));
  return lines;
}

// The tables and what is to be said about them.
std::string body(const Summary& summary, std::string (*text_of)(const Grid&), const char* mark) {
  std::string text = text_of(score_grid(summary));
  if (const Grid grid = comparison_grid(summary); !grid.rows.empty()) text += "\n" + text_of(grid);
  text += "\n";
  for (const std::string& line : explanations(summary)) text += mark + line + "\n";
  return text;
}

std::string heading(const Summary& summary) {
  const std::string& paper = summary.experiment.paper;
  return summary.experiment.title + (paper.empty() ? "" : fmt::format(" ({} of the paper)", paper));
}

// One chart per data set of a sweep.
void add_sweep_charts(Page& page, const Summary& summary) {
  for (size_t row = 0; row < summary.experiment.rows.size(); ++row) {
    Chart chart;
    chart.title = fmt::format("{}: {}", summary.experiment.rows[row].name, summary.experiment.title);
    chart.x_title = summary.experiment.sweep;
    for (const char* protocol : {"strict", "paper"}) {
      ChartSeries series{protocol, {}, {}};
      bool any = false;
      for (const SummaryLine& line : summary.lines) {
        if (line.row != row) continue;
        const Statistics* s = value_at(line.protocols, protocol);
        any = any || s != nullptr;
        const double factor = s != nullptr ? shown_factor(line.metric) : std::numeric_limits<double>::quiet_NaN();
        series.values.push_back(s != nullptr ? factor * s->mean : factor);
        series.spread.push_back(s != nullptr ? factor * s->deviation : factor);
        if (!line.metric.empty()) chart.y_title = metric_title(line.metric);
      }
      if (any) chart.series.push_back(std::move(series));
    }
    for (const ExperimentVariant& variant : summary.experiment.variants)
      chart.points.push_back(variant.value ? fmt::format("{}", *variant.value) : variant.name);
    if (!chart.series.empty()) page.add_chart(chart);
  }
}

void drop_column(Grid& grid, const std::string& name) {
  const auto at = std::find(grid.head.begin(), grid.head.end(), name) - grid.head.begin();
  grid.head.erase(grid.head.begin() + at);
  for (auto& row : grid.rows) row.erase(row.begin() + at);
}

}  // namespace

Grid score_grid(const Summary& summary) {
  Grid grid;
  grid.head = {"data", "variant", "strict", "paper", "published", "difference", "seeds", "epochs", "a run", "memory"};
  std::string last;
  const auto add = [&](const std::string& title, std::vector<std::string> cells) {
    cells.insert(cells.begin(), title == last ? "" : title);
    cells.resize(grid.head.size());
    last = title;
    grid.rows.push_back(std::move(cells));
  };
  for (const SummaryLine& line : summary.lines) {
    const ExperimentVariant& variant = summary.experiment.variants[line.variant];
    const std::string title = row_title(summary, line);
    const std::string metric = line.metric.empty() ? summary.experiment.rows[line.row].metric : line.metric;
    if (line.whole_row) {
      if (title != last) add(title, {line.state});
      continue;
    }
    if (line.protocols.empty()) {
      add(title, {variant.name, line.state.empty() ? "not run yet" : line.state, "",
                  line.published ? line.published->text : ""});
      continue;
    }
    const auto difference = published_difference(line);
    add(title,
        {variant.name, spread(line.protocols, "strict", metric), spread(line.protocols, "paper", metric),
         line.published ? line.published->text : "",
         difference ? signed_text(*difference, std::min(line.published->decimals, decimals_of(*difference, metric)))
                    : "",
         part_of(line.seeds, line.wanted_seeds), part_of(line.epochs, line.recipe_epochs), duration_text(line.seconds),
         fmt::format("{:.2f} GB", static_cast<double>(line.peak_rss_bytes) / 1e9)});
    for (const BaselineLine& baseline : line.baselines) {
      // What does not depend on the variant is shown once.
      if (line.variant > 0 && baseline.name != "untrained") continue;
      const std::string of = line.variant > 0 ? ", " + variant.name : "";
      add(title, {fmt::format("- {}{}", baseline_title(baseline.name), of),
                  spread(baseline.protocols, "strict", metric), spread(baseline.protocols, "paper", metric)});
    }
  }
  const bool published = std::any_of(summary.lines.begin(), summary.lines.end(),
                                     [](const SummaryLine& line) { return line.published.has_value(); });
  if (!published) {
    for (const char* column : {"published", "difference"}) drop_column(grid, column);
  }
  return grid;
}

Grid comparison_grid(const Summary& summary) {
  Grid grid;
  grid.head = {"data",          "against " + summary.experiment.reference,
               "protocol",      "difference",
               "95 % interval", "better on",
               "t-test p",      "sign test p"};
  for (const SummaryLine& line : summary.lines) {
    for (const VariantComparison& c : line.comparisons) {
      const double factor = shown_factor(line.metric);
      const int decimals = shown_decimals(line.metric);
      const std::string interval = std::isfinite(c.difference.low)
                                       ? signed_text(factor * c.difference.low, decimals) + " .. " +
                                             signed_text(factor * c.difference.high, decimals)
                                       : "";
      grid.rows.push_back({row_title(summary, line), summary.experiment.variants[line.variant].name, c.protocol,
                           signed_text(factor * c.difference.mean, decimals), interval,
                           fmt::format("{} of {} {}", c.better, c.pairs, c.unit), p_text(c.t_test),
                           p_text(c.sign_test)});
    }
  }
  return grid;
}

std::string grid_text(const Grid& grid) {
  std::vector<size_t> widths;
  for (const std::string& head : grid.head) widths.push_back(width(head));
  for (const auto& row : grid.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      // A sentence that stands where numbers would be runs on over the empty cells after it.
      if (width(row[c]) <= 24 || c + 1 == row.size() || !row[c + 1].empty())
        widths[c] = std::max(widths[c], width(row[c]));
    }
  }
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line;
    size_t begin = 0;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (!cells[c].empty()) {
        const size_t now = width(line);
        line += now < begin ? std::string(begin - now, ' ') : now > 0 ? "  " : "";
        line += cells[c];
      }
      begin += widths[c] + 2;
    }
    return line + "\n";
  };
  std::string text = line_of(grid.head);
  for (const auto& row : grid.rows) text += line_of(row);
  return text;
}

std::string grid_markdown(const Grid& grid) {
  const auto line_of = [](const std::vector<std::string>& cells) {
    std::string line = "|";
    for (std::string cell : cells) {
      for (size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
      line += " " + cell + " |";
    }
    return line + "\n";
  };
  std::string text = line_of(grid.head) + "|";
  for (size_t c = 0; c < grid.head.size(); ++c) text += "---|";
  text += "\n";
  for (const auto& row : grid.rows) text += line_of(row);
  return text;
}

std::string summary_text(const Summary& summary) { return heading(summary) + "\n\n" + body(summary, grid_text, ""); }

std::string summary_markdown(const Summary& summary) { return body(summary, grid_markdown, "* "); }

std::string summary_csv(const Summary& summary) {
  std::string text =
      "experiment,row,data,variant,target,metric,protocol,mean,std,scores,seeds,wanted_seeds,epochs,recipe_epochs,"
      "published,published_std,difference,seconds,peak_rss_bytes,state\n";
  const auto field = [](const std::string& value) { return table_field(value, ','); };
  for (const SummaryLine& line : summary.lines) {
    const ExperimentRow& row = summary.experiment.rows[line.row];
    const std::string start = fmt::format("{},{},{},{},{}", field(summary.experiment.name), field(row.name),
                                          field(line.data.empty() ? row.data.front() : line.data),
                                          field(summary.experiment.variants[line.variant].name), field(line.target));
    std::string published = ",";
    if (line.published)
      published = fmt::format("{},{}", line.published->mean,
                              line.published->deviation ? fmt::format("{}", *line.published->deviation) : "");
    if (line.protocols.empty())
      text += fmt::format("{},,,,,0,0,{},,{},{},,,,{}\n", start, line.wanted_seeds, line.recipe_epochs, published,
                          field(line.state.empty() ? "not run yet" : line.state));
    const auto scores = [&](const std::string& protocol, const Statistics& s) {
      const double factor = shown_factor(line.metric);
      return fmt::format("{},{},{},{},{},{},{},{},{},{}", start, line.metric, protocol, factor * s.mean,
                         factor * s.deviation, s.count, line.seeds, line.wanted_seeds, line.epochs, line.recipe_epochs);
    };
    for (const auto& [protocol, s] : line.protocols) {
      const bool compared = line.published && &s == comparable(line);
      text += fmt::format("{},{},{},{:.2f},{},\n", scores(protocol, s), published,
                          compared ? fmt::format("{}", *published_difference(line)) : "", line.seconds,
                          line.peak_rss_bytes);
    }
    for (const BaselineLine& baseline : line.baselines) {
      for (const auto& [protocol, s] : baseline.protocols)
        text += fmt::format("{},,,,,,baseline {}\n", scores(protocol, s), baseline.name);
    }
  }
  return text;
}

std::string summary_html(const std::vector<Summary>& summaries, const std::string& title) {
  Page page(title);
  for (const Summary& summary : summaries) {
    page.add_heading(heading(summary));
    const Grid scores = score_grid(summary), compared = comparison_grid(summary);
    page.add_table(scores.head, scores.rows);
    if (!compared.rows.empty()) page.add_table(compared.head, compared.rows);
    if (!summary.experiment.sweep.empty()) add_sweep_charts(page, summary);
    for (const std::string& line : explanations(summary)) page.add_text(line);
    page.add_code(fmt::format("graphpae reproduce {} --data DIR", summary.experiment.name));
  }
  return page.html();
}

std::string fill_mark(const std::string& document, const std::string& name, const std::string& text) {
  const std::string mark = fmt::format("<!-- table: {} -->\n", name), end = "<!-- end -->";
  const size_t place = document.find(mark);
  if (place == std::string::npos) return document;
  const size_t begin = place + mark.size(), stop = document.find(end, begin);
  if (stop == std::string::npos || document.substr(begin, stop - begin).find("<!-- table:") != std::string::npos)
    throw data_error(fmt::format("'<!-- table: {} -->' has no '{}'", name, end));
  return document.substr(0, begin) + text + document.substr(stop);
}

std::string fill_marks(const std::string& document, const std::vector<Summary>& summaries) {
  std::string text = document;
  for (Summary summary : summaries) {
    const size_t all = summary.lines.size();
    const bool any = std::any_of(summary.lines.begin(), summary.lines.end(),
                                 [](const SummaryLine& line) { return !line.protocols.empty(); });
    std::erase_if(summary.lines, [](const SummaryLine& line) { return line.protocols.empty() && line.state.empty(); });
    if (summary.lines.size() < all)
      summary.notes.push_back(
          fmt::format("{} of {} lines are here, the others are to be run.", summary.lines.size(), all));
    text = fill_mark(text, summary.experiment.name, any ? summary_markdown(summary) : "Nothing is measured yet.\n");
  }
  return text;
}

}  // namespace graphpae
