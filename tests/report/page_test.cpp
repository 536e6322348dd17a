#include "graphpae/report/page.h"

#include <gtest/gtest.h>

#include <cmath>

namespace graphpae {
namespace {

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
