#include "graphpae/report/page.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace graphpae {
namespace {

// A colour "#rrggbb" in CIELAB, where distances are about as large as they look.
std::array<double, 3> lab_of(const std::string& colour) {
  const auto channel = [&](size_t at) {
    const double c = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double r = channel(1), g = channel(3), b = channel(5);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047), y = f(0.2126 * r + 0.7152 * g + 0.0722 * b),
               z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double apart(const std::string& first, const std::string& second) {
  const auto a = lab_of(first), b = lab_of(second);
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// The colours between "const NAME = " and the end of the statement.
std::vector<std::string> colours_named(const std::string& html, const std::string& name) {
  const size_t begin = html.find("const " + name + " = ");
  if (begin == std::string::npos) return {};
  const std::string text = html.substr(begin, html.find(';', begin) - begin);
  std::vector<std::string> colours;
  for (size_t at = 0; (at = text.find('#', at)) != std::string::npos; ++at) colours.push_back(text.substr(at, 7));
  return colours;
}

TEST(Page, TwentyClassesAndNoLabelDifferInColour) {
  const std::string html = Page("p").html();
  const std::vector<std::string> grey = colours_named(html, "grey");
  ASSERT_EQ(grey.size(), 1u);
  for (const char* name : {"colours", "lightColours"}) {
    std::vector<std::string> colours = colours_named(html, name);
    ASSERT_EQ(colours.size(), 20u) << name;
    colours.push_back(grey[0]);
    for (size_t i = 0; i < colours.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_GT(apart(colours[i], colours[j]), 20) << name << colours[i] << colours[j];
    }
  }
}

TEST(Page, ScoresHaveIntervalsAndCurvesHaveNumbersOnBothAxes) {
  Page page("p");
  Chart scores{"accuracy", "accuracy in %", "", Chart::Kind::scores};
  scores.points = {"embeddings", "raw features"};
  scores.series = {{"accuracy", {80, 60}}};
  scores.series[0].low = {79, std::nan("")};
  scores.series[0].high = {81, std::nan("")};
  page.add_chart(scores);
  Chart curves{"ROC", "false", "true", Chart::Kind::curves};
  curves.series = {{"a", {0, 0.5, 1}}, {"chance", {0, 1}}};
  curves.series[0].x = {0, 0.25, 1};
  curves.series[1].x = {0, 1};
  curves.series[1].reference = true;
  page.add_chart(curves);
  page.add_verdict("good & well", 1);
  const std::string html = page.html();
  EXPECT_NE(html.find("\"low\":[79,null],\"high\":[81,null]"), std::string::npos);
  EXPECT_NE(html.find("<td>embeddings</td><td>80</td><td>79</td><td>81</td>"), std::string::npos);
  EXPECT_NE(html.find("\"x\":[0,0.25,1]"), std::string::npos);
  EXPECT_NE(html.find("<td>a</td><td>0.25</td><td>0.5</td>"), std::string::npos);
  EXPECT_EQ(html.find("<td>chance</td>"), std::string::npos);
  EXPECT_NE(html.find("<p class=\"verdict better\">good &amp; well</p>"), std::string::npos);
}

TEST(Page, HoldsAllThatItNeeds) {
  Page page("a < b");
  page.add_heading("Numbers & more");
  page.add_text("text with </script> in it");
  page.add_table({"x", "y"}, {{"1", "2"}, {"3", "<4>"}});
  Chart chart;
  chart.title = "a chart </script>";
  chart.x_title = "epoch";
  chart.points = {"1", "2", "3"};
  chart.series = {{"loss", {0.5, std::nan(""), 0.25}}};
  page.add_chart(chart);
  const std::string html = page.html();
  EXPECT_NE(html.find("<h1>a &lt; b</h1>"), std::string::npos);
  EXPECT_NE(html.find("<h2>Numbers &amp; more</h2>"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;4&gt;</td>"), std::string::npos);
  EXPECT_NE(html.find("\"data\":[0.5,null,0.25]"), std::string::npos);
  EXPECT_NE(html.find("Chart.js v3"), std::string::npos);
  // Two scripts, which end where they should; nothing comes from elsewhere.
  size_t ends = 0;
  for (size_t at = 0; (at = html.find("</script>", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2u);
  for (const char* outside : {"src=", "href=", "@import", "url("}) {
    EXPECT_EQ(html.substr(0, html.find("<script>")).find(outside), std::string::npos) << outside;
  }
}

}  // namespace
}  // namespace graphpae
