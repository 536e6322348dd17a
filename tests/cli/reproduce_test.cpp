// `graphpae reproduce` from outside.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::make_graph;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

const char* const kSmallSettings =
    "{width: 32, heads: 4, layers: 2, eigenvectors: 6, gaussians: 16, probe.epochs: 20, epochs: EPOCHS}";

// Two variants of a small graph, two seeds; and data that are not here.
void write_experiment(const TempDir& dir, int epochs) {
  std::string settings = kSmallSettings;
  settings.replace(settings.find("EPOCHS"), 6, std::to_string(epochs));
  dir.write("small.yaml",
            "title: Small\npaper: Table 0\nseeds: 2\nreference: full\nrows:\n  - {name: G, data: g, recipe: chameleon, "
            "set: " +
                settings +
                "}\n  - {name: Gone, data: gone, recipe: chameleon}\nvariants:\n"
                "  - {name: full, baselines: true, published: {G: [50.00, 1.00]}}\n"
                "  - {name: bare, set: {use_positions: no}}\n");
}

std::vector<json> records(const TempDir& dir, const std::string& file = "out/results.jsonl") {
  std::vector<json> all;
  std::istringstream text(slurp(dir / file));
  for (std::string line; std::getline(text, line);) {
    const json record = json::parse(line, nullptr, false);
    if (record.is_object()) all.push_back(record);
  }
  return all;
}

void expect_each_once(const TempDir& dir, size_t jobs) {
  std::set<std::string> keys;
  for (const json& record : records(dir)) keys.insert(record["key"].get<std::string>());
  EXPECT_EQ(records(dir).size(), jobs);
  EXPECT_EQ(keys.size(), jobs);
}

TEST(CliReproduce, TableOfJobsThatAreNotRepeated) {
  const TempDir dir;
  make_graph(dir);
  write_experiment(dir, 2);
  const Outcome listed = run(dir, "reproduce small.yaml --data . -o out --dry-run --json");
  ASSERT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(json::parse(listed.out)["open"], 4);
  EXPECT_FALSE(fs::exists(dir / "out"));

  const Outcome first = run(dir, "reproduce small.yaml --data . -o out");
  ASSERT_EQ(first.code, 0) << first.err;
  for (const char* part : {"Small (Table 0 of the paper)", "not here: looked for ./gone", "- untrained encoder",
                           "50.00 ± 1.00", "INFLATED", "against full", "out/results.md"})
    EXPECT_NE(first.out.find(part), std::string::npos) << part << "\n" << first.out;
  expect_each_once(dir, 4);
  for (const json& record : records(dir)) {
    EXPECT_EQ(record["epochs"], 2);
    EXPECT_EQ(record["protocols"]["strict"]["scores"].size(), 10u);
    EXPECT_EQ(record["protocols"]["paper"]["scores"].size(), 10u);
    EXPECT_EQ(record["protocols"]["strict"].contains("baselines"), record["variant"] == "full");
    for (const char* key : {"commit", "version", "machine", "date", "data_hash"})
      EXPECT_FALSE(record[key].get<std::string>().empty()) << key;
    EXPECT_GT(record["peak_rss_bytes"], 1000000);
    EXPECT_GT(record["seconds"], 0);
  }
  EXPECT_TRUE(fs::is_empty(dir / "out/runs"));  // models of finished jobs are not kept
  for (const char* file : {"results.md", "results.csv", "report.html"})
    EXPECT_NE(slurp(dir / (std::string("out/") + file)).find("bare"), std::string::npos) << file;

  // Numbers of the table are those of the records.
  const Outcome again = run(dir, "reproduce small.yaml --data . -o out --json");
  ASSERT_EQ(again.code, 0) << again.err;
  expect_each_once(dir, 4);
  double sum = 0, count = 0;
  for (const json& record : records(dir)) {
    if (record["variant"] != "bare") continue;
    for (const auto& split : record["protocols"]["strict"]["scores"]) {
      for (const double score : split) sum += score, ++count;
    }
  }
  const json line = json::parse(again.out)["lines"][1];
  EXPECT_EQ(line["variant"], "bare");
  EXPECT_EQ(line["seeds"], 2);
  EXPECT_NEAR(line["protocols"]["strict"]["mean"], sum / count, 1e-12);
  EXPECT_EQ(line["comparisons"][0]["pairs"], 10);

  // Results of earlier runs count, wherever they are kept; a table needs no data.
  fs::rename(dir / "out/results.jsonl", dir / "kept.jsonl");
  dir.write("page.md", "Text.\n<!-- table: small -->\n<!-- end -->\n");
  const Outcome table =
      run(dir, "reproduce small.yaml --table-only --results kept.jsonl --fill page.md -o other --json");
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(json::parse(table.out)["lines"][1]["protocols"], line["protocols"]);
  EXPECT_NE(slurp(dir / "page.md").find("| G | full |"), std::string::npos);
  // Variants that are not run by default are shown if they have results.
  std::string yaml = slurp(dir / "small.yaml");
  const std::string bare = "{name: bare, set: {use_positions: no}";
  yaml.replace(yaml.find(bare), bare.size(),
               "{name: rare, set: {alpha: 0.5}, by_default: no}\n  - " + bare + ", by_default: no");
  dir.write("optional.yaml", yaml);
  const Outcome optional = run(dir, "reproduce optional.yaml --table-only --results kept.jsonl -o third --json");
  ASSERT_EQ(optional.code, 0) << optional.err;
  const json lines = json::parse(optional.out)["lines"];
  std::multiset<std::string> shown;
  for (const json& one : lines) shown.insert(one["variant"].get<std::string>());
  EXPECT_EQ(shown, (std::multiset<std::string>{"bare", "full", "full"}));
  const Outcome known = run(dir, "reproduce small.yaml --data . --results kept.jsonl -o other");
  ASSERT_EQ(known.code, 0) << known.err;
  EXPECT_TRUE(records(dir, "other/results.jsonl").empty());
}

TEST(CliReproduce, GoesOnAfterBeingKilled) {
  const TempDir dir;
  make_graph(dir);
  write_experiment(dir, 3);
  // Killed as soon as one job is done; what it had started ends by itself.
  const std::string command =
      "cd '" + dir.path() +
      "' && { '" GRAPHPAE_PROGRAM
      "' reproduce small.yaml --data . -o out -q >.out 2>.err </dev/null & pid=$!; tries=0; "
      "while [ ! -s out/results.jsonl ] && [ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries+1)); done; "
      "kill -KILL $pid; wait $pid; }";
  EXPECT_NE(std::system(command.c_str()), 0);
  const size_t before = records(dir).size();
  EXPECT_GE(before, 1u);
  EXPECT_LT(before, 4u);
  const std::string kept = slurp(dir / "out/results.jsonl");
  // As if the kill had come in the middle of a line.
  std::ofstream(dir / "out/results.jsonl", std::ios::app) << kept.substr(0, 100);
  const Outcome outcome = run(dir, "reproduce small.yaml --data . -o out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_each_once(dir, 4);
  EXPECT_TRUE(slurp(dir / "out/results.jsonl").starts_with(kept));
}

TEST(CliReproduce, InterruptedInsideARunItGoesOnThere) {
  const TempDir dir;
  make_graph(dir);
  write_experiment(dir, 100000);
  // Interrupted when the run has done so many epochs.
  const auto interrupt_after = [&](int64_t epochs) {
    const std::string command =
        "cd '" + dir.path() +
        "' && { '" GRAPHPAE_PROGRAM
        "' reproduce small.yaml --data . -o out --seeds 1 --variants full -q >.out 2>.err </dev/null & pid=$!; "
        "tries=0; "
        "while [ \"$(cat out/runs/*/metrics.jsonl 2>/dev/null | wc -l)\" -lt " +
        std::to_string(epochs) +
        " ] && [ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries+1)); done; kill -INT $pid; wait $pid; }";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_NE(slurp(dir / ".err").find("interrupted; what is done is kept"), std::string::npos) << slurp(dir / ".err");
  };
  interrupt_after(3);
  EXPECT_TRUE(records(dir).empty());
  std::vector<std::string> runs;
  for (const auto& run_directory : fs::directory_iterator(dir / "out/runs")) runs.push_back(run_directory.path());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_FALSE(fs::is_empty(runs[0] + "/checkpoints"));
  const std::string before = slurp(runs[0] + "/metrics.jsonl");
  interrupt_after(std::count(before.begin(), before.end(), '\n') + 3);
  EXPECT_TRUE(slurp(runs[0] + "/metrics.jsonl").starts_with(before));  // it went on, and did not begin again
}

TEST(CliReproduce, TwoProcessesShareTheWork) {
  const TempDir dir;
  make_graph(dir);
  write_experiment(dir, 2);
  const std::string one = "'" GRAPHPAE_PROGRAM "' reproduce small.yaml --data . -o out --threads 1";
  const std::string command = "cd '" + dir.path() + "' && { " + one + " >a.out 2>a.err </dev/null & first=$!; " + one +
                              " >b.out 2>b.err </dev/null; second=$?; wait $first && [ $second = 0 ]; }";
  EXPECT_EQ(std::system(command.c_str()), 0) << slurp(dir / "a.err") << slurp(dir / "b.err");
  expect_each_once(dir, 4);
  // Both have the whole table in the end, and both have done something.
  for (const char* name : {"a.out", "b.out"}) EXPECT_NE(slurp(dir / name).find("bare"), std::string::npos) << name;
  for (const char* name : {"a.err", "b.err"})
    EXPECT_NE(slurp(dir / name).find("done in"), std::string::npos) << name << slurp(dir / name);
}

TEST(CliReproduce, BudgetCutsAndSaysSo) {
  const TempDir dir;
  make_graph(dir);
  write_experiment(dir, 400000);  // more than fits
  const Outcome outcome = run(dir, "reproduce small.yaml --data . -o out --budget 20s --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_NE(result["notes"][0].get<std::string>().find("--budget 20s: 1 of 2 seeds"), std::string::npos)
      << result["notes"];
  for (const json& record : records(dir)) {
    EXPECT_GE(record["epochs"], 1);
    EXPECT_LT(record["epochs"], 400000);
  }
  // The plan is kept: the same call does at most what there was no time for, with the same number of epochs.
  ASSERT_FALSE(records(dir).empty());
  const json planned = records(dir)[0]["epochs"];
  EXPECT_EQ(run(dir, "reproduce small.yaml --data . -o out --budget 20s").code, 0);
  for (const json& record : records(dir)) EXPECT_EQ(record["epochs"], planned);
  expect_each_once(dir, records(dir).size());
  EXPECT_LE(records(dir).size(), 2u);
}

TEST(CliReproduce, BudgetLeavesWholeRunsAsTheyAre) {
  const TempDir dir;
  make_graph(dir);
  write_experiment(dir, 2);
  ASSERT_EQ(run(dir, "reproduce small.yaml --data . -o short --seeds 1 --variants full").code, 0);
  json whole = records(dir, "short/results.jsonl").at(0);
  whole["settings"]["epochs"] = "400000";
  whole["training_seconds"] = whole["seconds"] = 40000;  // so the budget is thought to be good for 100 epochs or so
  dir.write("whole.jsonl", whole.dump() + "\n");
  write_experiment(dir, 400000);
  const Outcome outcome = run(dir, "reproduce small.yaml --data . -o out --budget 15s --results whole.jsonl --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const json& record : records(dir)) EXPECT_EQ(record["variant"], "bare");
  const json full = json::parse(outcome.out)["lines"][0];
  EXPECT_EQ(full["variant"], "full");
  EXPECT_EQ(full["epochs"], 400000);
  EXPECT_EQ(full["seeds"], 1);
}

// A file of settings means the same for any data: what it leaves open has its default, in the record and in the run.
TEST(CliReproduce, RecordsSayWhatRan) {
  const TempDir dir;
  std::string table = "smiles,y\n";
  std::array<std::string, 3> parts;
  for (int i = 0; i < 30; ++i) {
    table += std::string(static_cast<size_t>(i + 1), 'C') + "," + std::to_string(i) + "\n";
    parts[i < 20 ? 0 : i % 2 + 1] += std::to_string(i) + "\n";
  }
  dir.write("mols/molecules.csv", table);
  dir.write("mols/split/train.csv", parts[0]);
  dir.write("mols/split/valid.csv", parts[1]);
  dir.write("mols/split/test.csv", parts[2]);
  dir.write("mine.yaml", "encoder: gated_gcn\nlayers: 1\nwidth: 8\neigenvectors: 2\ngaussians: 4\nepochs: 1\n");
  dir.write("own.yaml", "seeds: 1\nrows:\n  - {name: M, data: mols, recipe: mine.yaml}\n");
  const Outcome outcome = run(dir, "reproduce own.yaml --data . -o out --keep-runs");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json record = records(dir).at(0);
  const std::string config = slurp(dir / ("out/runs/" + record["key"].get<std::string>() + "/config.yaml"));
  for (const char* key : {"encoder", "batch_size", "gaussian_range", "mask_ratio", "absolute_positions"}) {
    const std::string said = std::string("\n") + key + ": ";
    const size_t at = config.find(said);
    ASSERT_NE(at, std::string::npos) << key;
    const std::string value = config.substr(at + said.size(), config.find('\n', at + 1) - at - said.size());
    std::string recorded = record["settings"][key];
    if (recorded == "yes" || recorded == "no") recorded = recorded == "yes" ? "true" : "false";
    EXPECT_EQ(value, recorded) << key;
  }
}

TEST(CliReproduce, AJobThatFailsIsALineOfTheTable) {
  const TempDir dir;
  make_graph(dir);
  dir.write("small.yaml", std::string("seeds: 1\nrows:\n  - {name: G, data: g, recipe: chameleon, set: ") +
                              std::string(kSmallSettings).replace(std::string(kSmallSettings).find("EPOCHS"), 6, "2") +
                              "}\nvariants:\n  - {name: good}\n  - {name: bad, set: {encoder: gated_gcn}}\n");
  const Outcome outcome = run(dir, "reproduce small.yaml --data . -o out");
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  const size_t reason = outcome.out.find("failed: ");
  EXPECT_NE(reason, std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("failed: ", reason + 1), std::string::npos) << outcome.out;  // said once
  expect_each_once(dir, 1);                                                               // of the other one
}

TEST(CliReproduce, TuneSearchesByValidationAndWritesARecipe) {
  const TempDir dir;
  make_graph(dir);
  dir.write("base.yaml",
            "width: 32\nheads: 4\nlayers: 1\neigenvectors: 6\ngaussians: 16\nprobe.epochs: 20\nepochs: 9\n");
  const std::string command =
      "reproduce tune g --data . --recipe base.yaml --budget 25s --seeds 1 --epochs 9 -o out --json";
  const Outcome planned = run(dir, command + " --dry-run");
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_EQ(json::parse(planned.out)["epochs"], 9);
  EXPECT_GT(json::parse(planned.out)["seconds"], 0);
  EXPECT_FALSE(fs::exists(dir / "out"));
  const Outcome outcome = run(dir, command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_GE(result["candidates"], 3);
  std::vector<json> search;
  for (const json& record : records(dir)) {
    if (record["verb"] == "tune") search.push_back(record);
  }
  EXPECT_GE(search.size(), 5u);  // three candidates, then the best, then the best of those
  double best = 0;
  for (const json& record : search) {
    EXPECT_TRUE(record["protocols"]["strict"]["scores"].empty());  // nothing of the test part is there to be read
    if (record["epochs"] == 9) best = std::max(best, record["protocols"]["strict"]["val"].get<double>());
  }
  const std::string winner = "candidate " + std::to_string(result["winner"].get<int>());
  for (const json& record : search) {
    if (record["variant"] == winner && record["epochs"] == 9) {
      EXPECT_EQ(record["protocols"]["strict"]["val"], best);
    }
  }
  // The recipe it wrote is one a run takes.
  EXPECT_EQ(run(dir, "pretrain g --config out/g-tuned.yaml --dry-run").code, 0);
  EXPECT_NE(slurp(dir / "out/g-tuned.yaml").find("chosen by validation accuracy"), std::string::npos);
  const size_t before = records(dir).size();
  EXPECT_EQ(run(dir, command).code, 0);
  EXPECT_EQ(records(dir).size(), before);  // all of it was done
  // The records are all it takes to tell of the search again.
  dir.write("notes.md", "<!-- table: tune g -->\nold\n<!-- end -->\n");
  const Outcome again = run(dir,
                            "reproduce tune g --table-only --recipe base.yaml --seeds 1 --results out/results.jsonl "
                            "--fill notes.md -o again --json");
  ASSERT_EQ(again.code, 0) << again.err;
  for (const char* key : {"winner", "epochs", "verdict"}) EXPECT_EQ(json::parse(again.out)[key], result[key]) << key;
  const auto settings = [&](const char* file) {
    const std::string text = slurp(dir / file);
    return text.substr(text.rfind("\n# "));  // the verdict and all settings
  };
  EXPECT_EQ(settings("again/g-tuned.yaml"), settings("out/g-tuned.yaml"));
  EXPECT_FALSE(fs::exists(dir / "again/results.jsonl"));
  const std::string notes = slurp(dir / "notes.md");
  EXPECT_NE(notes.find(result["verdict"].get<std::string>()), std::string::npos) << notes;
  EXPECT_NE(notes.find("| g | recipe |"), std::string::npos) << notes;
  EXPECT_EQ(notes.find("old"), std::string::npos) << notes;
}

TEST(CliReproduce, SpectrumIsTheVerbOfThatName) {
  const TempDir dir;
  make_graph(dir);
  dir.write("fig.yaml", "kind: spectrum\nrows:\n  - {name: G, data: g}\n  - {name: Gone, data: gone}\n");
  const Outcome outcome = run(dir, "reproduce fig.yaml --data . -o out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("feature_masking"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("not here: looked for ./gone"), std::string::npos) << outcome.out;
  EXPECT_TRUE(fs::exists(dir / "out/fig-g/spectrum.html"));
  EXPECT_EQ(slurp(dir / "out/report.html"), slurp(dir / "out/fig-g/spectrum.html"));
  EXPECT_EQ(slurp(dir / "out/results.csv").find("row,"), 0u);
  EXPECT_NE(slurp(dir / "out/results.csv").find("\nG,feature_masking,"), std::string::npos);
  // Not done again, unless the data are others.
  const auto written = fs::last_write_time(dir / "out/fig-g/spectrum.json");
  EXPECT_EQ(run(dir, "reproduce fig.yaml --data . -o out").out, outcome.out);
  EXPECT_EQ(fs::last_write_time(dir / "out/fig-g/spectrum.json"), written);
  fs::remove_all(dir / "g");
  ASSERT_EQ(run(dir, "generate heterophilic -o g --nodes 200 --edges 900 --features 40 --seed 7 -q").code, 0);
  const Outcome other = run(dir, "reproduce fig.yaml --data . -o out --json");
  EXPECT_NE(fs::last_write_time(dir / "out/fig-g/spectrum.json"), written);
  EXPECT_EQ(json::parse(other.out)[0]["row"], "G");
}

TEST(CliReproduce, ListsAndRefuses) {
  const TempDir dir;
  const Outcome list = run(dir, "reproduce");
  EXPECT_EQ(list.code, 0);
  for (const char* name :
       {"table1", "table2", "table3", "ablation", "ablation-pe", "alpha", "eigenvectors", "figure1", "homophilic"})
    EXPECT_NE(list.out.find(name), std::string::npos) << name;
  expect_failure(dir, "reproduce tabel2", 2, "unknown experiment 'tabel2' (did you mean 'table2'?)");
  expect_failure(dir, "reproduce table2 --data nowhere", 2, "--data nowhere: is not a directory");
  expect_failure(dir, "reproduce table2 --datasets chamelion --dry-run", 2, "(did you mean 'chameleon'?)");
  expect_failure(dir, "reproduce all --datasets chamelion --dry-run", 2, "no experiment has --datasets 'chamelion'");
  expect_failure(dir, "reproduce table2 --budget soon", 2, "'soon' is not a time");
  expect_failure(dir, "reproduce table2 chameleon", 2, "only tune takes a data set");
  expect_failure(dir, "reproduce tune", 2, "tune: which data?");
  expect_failure(dir, "reproduce tune nowhere --data .", 3, "nowhere: not found");
  expect_failure(dir, "reproduce tune chameleon --table-only", 3, "chameleon: no search is recorded");
  expect_failure(dir, "reproduce tune chameleon --datasets squirrel", 2, "tune takes one data set");
  EXPECT_FALSE(fs::exists(dir / "graphpae-reproduce/results.md"));
}

}  // namespace
}  // namespace graphpae
