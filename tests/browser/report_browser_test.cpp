// Reports in a real browser: no errors, no network, the expected marks, and what keys and mouse do.
//
// With GRAPHPAE_TEST_SCREENSHOTS=DIR pictures of the pages are left there, to be looked at.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "tests/browser/browser.h"
#include "tests/cli/molecule_table.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

using test::Browser;
using test::Outcome;
using test::run;
using test::TempDir;
using Json = Browser::Json;

// Pages made once by the program, opened by one browser.
class ReportInBrowser : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = std::make_unique<TempDir>();
    browser_ = std::make_unique<Browser>();
    test::make_graph(*dir_);
    make("pretrain g -o r --epochs 12 --evaluate --protocol both --set probe.epochs=40 --seeds 1" + small());
    make("pretrain g -o s --epochs 6 --set use_positions=no --set reconstruct_positions=no --set corrupt_positions=no" +
         small());
    make("spectrum g -o r/spectrum --draws 2 --run r --run s");
    make("report r");
    make("report r s -o both.html");
    std::string smiles = "smiles,value\n";
    for (const char* ring : {"c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCNCC1", "c1ccsc1"}) {
      for (int chain = 0; chain < 8; ++chain)
        smiles += std::string(chain, 'C') + "O" + ring + "," + std::to_string(0.5 * chain + (ring[0] == 'c')) + "\n";
    }
    dir_->write("m.csv", smiles);
    make("pretrain m.csv -o m --epochs 3 --set width=32 --set layers=2 --set gaussians=16 --set eigenvectors=4");
    make("report m --data m.csv");
    make_binary();
    make_classes();
  }
  static void TearDownTestSuite() {
    browser_.reset();
    dir_.reset();
  }

  // A fine-tuned model of one target of two classes.
  static void make_binary() {
    dir_->write("b.csv", test::molecule_table("name,smiles,odd,weight"));
    make(
        "finetune none b.csv --tasks odd -o t --epochs 5 --set width=16 --set layers=2 --set gaussians=8 --set "
        "eigenvectors=3");
  }
  // A map of twenty classes and nodes without one.
  static void make_classes() {
    std::string edges = "src,dst\n", features = "node,a,b,c,d\n", labels = "node,label\n";
    for (int n = 0; n < 210; ++n) {
      edges += std::to_string(n) + "," + std::to_string((n + 1) % 210) + "\n";
      features += std::to_string(n);
      for (int bit = 0; bit < 4; ++bit) features += "," + std::to_string((n >> bit) & 1);
      features += "\n";
      if (n % 21 < 20) labels += std::to_string(n) + ",c" + std::to_string(n % 21) + "\n";
    }
    dir_->write("e.csv", edges);
    dir_->write("f.csv", features);
    dir_->write("l.csv", labels);
    const std::string files = " --features f.csv --labels l.csv";
    make("pretrain e.csv" + files + " -o classes --epochs 2" + small());
    make("report classes --data e.csv" + files);
  }

  static std::string small() { return test::kSmall; }
  static void make(const std::string& arguments) {
    const Outcome outcome = run(*dir_, arguments + " -q");
    ASSERT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
  }

  static Browser& open(const std::string& name) {
    browser_->requests();
    browser_->complaints();
    browser_->open(*dir_ / name);
    return *browser_;
  }
  // Nothing was said on the console and nothing but the file asked for; what the map shows is data inside it.
  static void expect_quiet(const std::string& name) {
    for (const std::string& complaint : browser_->complaints()) ADD_FAILURE() << name << ": " << complaint;
    const std::vector<std::string> requests = browser_->requests();
    ASSERT_FALSE(requests.empty()) << "requests are not seen";
    for (const std::string& url : requests)
      EXPECT_TRUE(url == "file://" + *dir_ / name || url.starts_with("data:image/svg+xml,")) << url.substr(0, 200);
  }
  static void keep_picture(const std::string& name) {
    const char* directory = std::getenv("GRAPHPAE_TEST_SCREENSHOTS");
    if (directory == nullptr) return;
    for (const bool dark : {false, true}) {
      browser_->use_dark(dark);
      const std::string picture = std::string(directory) + "/" + name + (dark ? "-dark" : "-light") + ".png.base64";
      std::ofstream(picture) << browser_->screenshot();
      const std::string png = picture.substr(0, picture.size() - 7);
      ASSERT_EQ(std::system(("base64 -d '" + picture + "' > '" + png + "' && rm '" + picture + "'").c_str()), 0);
    }
    browser_->use_dark(false);
  }

  static std::unique_ptr<TempDir> dir_;
  static std::unique_ptr<Browser> browser_;
};
std::unique_ptr<TempDir> ReportInBrowser::dir_;
std::unique_ptr<Browser> ReportInBrowser::browser_;

TEST_F(ReportInBrowser, ARunShowsItsCurves) {
  Browser& browser = open("r/report.html");
  const Json charts = browser.run(
      "return [...document.querySelectorAll('figure:not(.map) .chart canvas')].map(c => { const chart = "
      "Chart.getChart(c);"
      "return {title: chart.options.plugins.title.text, series: chart.data.datasets.map(d => d.label), points: "
      "chart.data.datasets.map(d => d.data.filter(v => v !== null).length)}; });");
  ASSERT_GE(charts.size(), 5u) << charts;
  EXPECT_EQ(charts[0]["title"], "accuracy in %, protocol strict");
  // Embeddings, untrained, raw features, raw positions, majority; three blocks, their combination, and with embeddings.
  EXPECT_EQ(charts[0]["points"], Json({10}));
  EXPECT_EQ(charts[1]["title"], "accuracy in %, protocol paper (INFLATED)");
  EXPECT_EQ(charts[2]["series"], Json({"loss", "feature"}));
  EXPECT_EQ(charts[2]["points"], Json({12, 12}));
  EXPECT_EQ(charts[3]["title"], "Loss term: position");
  EXPECT_EQ(charts[3]["points"], Json({12}));
  EXPECT_EQ(charts[4]["title"], "Learning rate");
  // The verdict is the first thing below the title.
  EXPECT_EQ(browser.run("return document.querySelector('h1').nextElementSibling.className.split(' ')[0]"), "verdict");
  // Something was drawn: not all pixels are alike.
  EXPECT_EQ(browser.run(
                "const c = document.getElementById('chart0'); const p = c.getContext('2d').getImageData(0, 0, c.width, "
                "c.height).data; return p.some((v, i) => v !== p[i % 4]);"),
            true);
  // Numbers in tables are aligned; the confusion matrix has a row per class.
  EXPECT_EQ(browser.run("return document.querySelectorAll('.confusion tbody tr').length"), 5);
  EXPECT_EQ(browser.run("return getComputedStyle(document.querySelector('table td.number')).textAlign"), "right");
  EXPECT_EQ(browser.run("return document.body.textContent.includes('paper (INFLATED)')"), true);
  EXPECT_EQ(browser.run("return document.documentElement.scrollWidth <= innerWidth"), true);
  keep_picture("run");
  expect_quiet("r/report.html");
}

TEST_F(ReportInBrowser, ClassesOfTheMapAreToggledAndPointsSayWhatTheyAre) {
  Browser& browser = open("r/report.html");
  const std::string map =
      "const canvas = document.querySelector('.map .square canvas'), chart = Chart.getChart(canvas);";
  EXPECT_EQ(browser.run(map + "return chart.data.datasets.reduce((n, d) => n + d.data.length, 0)"), 200);
  EXPECT_EQ(browser.run(map + "return chart.data.datasets.length"), 5);
  EXPECT_EQ(browser.run("return document.querySelectorAll('.groups button').length"), 7);  // and all, none

  browser.click(".groups button:nth-child(2)");
  EXPECT_EQ(browser.run(map + "return chart.isDatasetVisible(1)"), false);
  EXPECT_EQ(browser.run(map + "return chart.isDatasetVisible(0)"), true);
  EXPECT_EQ(browser.run("return document.querySelector('.groups button:nth-child(2)').ariaPressed"), "false");
  browser.type(".groups button:nth-child(2)", " ");  // by key
  EXPECT_EQ(browser.run(map + "return chart.isDatasetVisible(1)"), true);
  browser.click(".groups button:nth-child(7)");
  EXPECT_EQ(browser.run(map + "return chart.getSortedVisibleDatasetMetas().length"), 0);
  browser.click(".groups button:nth-child(6)");
  EXPECT_EQ(browser.run(map + "return chart.getSortedVisibleDatasetMetas().length"), 5);

  // The other projection moves the points.
  const Json before = browser.run(map + "return chart.data.datasets[0].data[0]");
  browser.click(".choices:not(.groups) button:nth-child(2)");
  EXPECT_NE(browser.run(map + "return chart.data.datasets[0].data[0]"), before);
  EXPECT_EQ(browser.run("return document.querySelector('.map .about').textContent.includes('principal components')"),
            true);

  // Keys go from point to point, and back.
  browser.type(".map .square canvas", "\uE014\uE014");
  EXPECT_EQ(browser.run("return document.querySelector('.map .point').textContent.startsWith('node 1, class ')"), true);
  browser.type(".map .square canvas", "\uE012");
  EXPECT_EQ(browser.run("return document.querySelector('.map .point').textContent.startsWith('node 0, class ')"), true);

  // So does the mouse: the class it names is that of the mark it is over.
  browser.run("document.querySelector('.map .square canvas').scrollIntoView({block: 'center'})");
  const Json place = browser.run(
      map +
      "const p = chart.getDatasetMeta(3).data[0].getCenterPoint(), box = canvas.getBoundingClientRect(); return [p.x + "
      "box.left, p.y + box.top];");
  browser.point(place[0], place[1]);
  const std::string said = browser.run("return document.querySelector('.map .point').textContent");
  EXPECT_TRUE(said.starts_with("node ")) << said;
  EXPECT_NE(browser.run(map + "return chart.tooltip.body.length"), 0);
  expect_quiet("r/report.html");
}

TEST_F(ReportInBrowser, MoleculesAreDrawnUnderThePointer) {
  Browser& browser = open("m/report.html");
  EXPECT_EQ(browser.run("return document.querySelector('.map .drawing img')"), nullptr);
  browser.type(".map .square canvas", "\uE014");
  EXPECT_EQ(
      browser.run("const i = document.querySelector('.map .drawing img'); return i.complete && i.naturalWidth > 0"),
      true);
  EXPECT_EQ(browser.run("return document.querySelector('.map .point').textContent"),
            "molecule Oc1ccccc1, value 1 .. 2");
  keep_picture("molecules");
  expect_quiet("m/report.html");
}

TEST_F(ReportInBrowser, RunsAreCompared) {
  Browser& browser = open("both.html");
  EXPECT_EQ(browser.run("return Chart.getChart('chart0').data.datasets.map(d => d.label)"), Json({"r", "s"}));
  EXPECT_EQ(
      browser.run("return Chart.getChart('chart0').data.datasets.map(d => d.data.filter(v => v !== null).length)"),
      Json({12, 6}));
  EXPECT_EQ(browser.run("return [...document.querySelectorAll('td:first-child')].filter(c => c.textContent === "
                        "'use_positions').map(c => [...c.parentNode.cells].map(d => d.textContent))"),
            Json({{"use_positions", "true", "false"}}));
  keep_picture("comparison");
  expect_quiet("both.html");
}

TEST_F(ReportInBrowser, SpectraHaveABarPerBand) {
  Browser& browser = open("r/spectrum/spectrum.html");
  const Json charts = browser.run(
      "return charts.map(c => { const chart = Chart.getChart(c.id); return {title: c.title, type: chart.config.type, "
      "series: chart.data.datasets.map(d => d.label), points: chart.data.labels.length}; });");
  ASSERT_EQ(charts.size(), 7u) << charts;
  for (const Json& chart : charts) EXPECT_GT(chart["points"], 10) << chart;
  EXPECT_EQ(charts[4]["series"], Json({"feature masking", "edge masking", "position offset"}));
  EXPECT_EQ(charts[5]["series"], Json({"r", "s", "untrained encoder", "raw features"}));
  keep_picture("spectrum");
  expect_quiet("r/spectrum/spectrum.html");
}

// A class's buttons and marks, and what has no label, in light and dark.
TEST_F(ReportInBrowser, TwentyClassesAndNoLabelDiffer) {
  for (const bool dark : {false, true}) {
    browser_->use_dark(dark);
    Browser& browser = open("classes/report.html");
    const Json colours = browser.run(
        "const chart = Chart.getChart(document.querySelector('.map .square canvas'));"
        "return chart.data.datasets.map(set => [set.label, set.borderColor()]);");
    ASSERT_EQ(colours.size(), 21u);
    std::set<std::string> seen;
    for (const Json& one : colours) seen.insert(one[1].get<std::string>());
    EXPECT_EQ(seen.size(), 21u) << colours;
    EXPECT_EQ(colours[20], Json({"no label", "#8c8c8c"}));
    expect_quiet("classes/report.html");
  }
  browser_->use_dark(false);
  keep_picture("classes");
}

TEST_F(ReportInBrowser, BinaryTargetsHaveCurves) {
  Browser& browser = open("t/report.html");
  const Json charts = browser.run(
      "return charts.filter(c => c.kind === 'curves').map(c => { const chart = Chart.getChart(c.id); return {title: "
      "c.title, "
      "series: chart.data.datasets.map(d => d.label), last: chart.data.datasets[0].data.at(-1)}; });");
  ASSERT_EQ(charts.size(), 3u) << charts;
  EXPECT_EQ(charts[0]["series"], Json({"odd", "chance"}));
  EXPECT_EQ(charts[0]["last"], Json({{"x", 1}, {"y", 1}}));
  EXPECT_EQ(charts[1]["last"]["x"], 1);
  EXPECT_EQ(charts[2]["series"], Json({"odd", "as predicted"}));
  keep_picture("binary");
  expect_quiet("t/report.html");
}

// Paper is light on a dark screen too, and shows structures.
TEST_F(ReportInBrowser, PaperIsLightAndShowsStructures) {
  browser_->use_dark(true);
  Browser& browser = open("m/report.html");
  EXPECT_EQ(browser.run("return getComputedStyle(document.body).backgroundColor"), "rgb(22, 22, 22)");
  EXPECT_EQ(browser.run("return document.querySelectorAll('.gallery img').length"), 12);
  browser.use_print(true);
  browser.run("dispatchEvent(new Event('beforeprint'))");
  EXPECT_EQ(browser.run("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
  EXPECT_EQ(browser.run("return getComputedStyle(document.querySelector('.drawing')).display"), "none");
  EXPECT_EQ(browser.run("const i = document.querySelector('.gallery img'); return i.complete && i.naturalWidth > 0 && "
                        "i.getBoundingClientRect().width > 50"),
            true);
  EXPECT_EQ(browser.run("return [textColour(), colour(0), colour(7)]"), Json({"#1b1b1b", "#0072b2", "#2d5a00"}));
  EXPECT_EQ(
      browser.run(
          "return Math.max(...[...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect().width)) "
          "<= 640"),
      true);
  browser.run("dispatchEvent(new Event('afterprint'))");
  browser.use_print(false);
  EXPECT_EQ(browser.run("return [textColour(), colour(0)]"), Json({"#e8e8e8", "#3d9fdb"}));
  browser.use_dark(false);
  if (const char* directory = std::getenv("GRAPHPAE_TEST_SCREENSHOTS")) {
    for (const char* name : {"m", "t", "r"}) {
      open(std::string(name) + "/report.html");
      std::ofstream(std::string(directory) + "/" + name + ".pdf.base64") << browser.paper();
    }
  }
}

TEST_F(ReportInBrowser, NarrowWindowsNeedNoScrolling) {
  for (const char* name : {"r/report.html", "m/report.html", "t/report.html", "classes/report.html", "both.html"}) {
    browser_->set_width(400);
    Browser& browser = open(name);
    EXPECT_EQ(browser.run("return document.documentElement.scrollWidth <= innerWidth"), true) << name;
    browser.set_width(1200);
  }
}

}  // namespace
}  // namespace graphpae
