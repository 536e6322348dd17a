// pretrain and embed on molecules, from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "graphpae/io/npy.h"
#include "tests/cli/metrics.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::losses;
using test::Outcome;
using test::run;
using test::run_and_signal;
using test::slurp;
using test::TempDir;

constexpr const char* kSmallMolecules =
    " --set width=16 --set eigenvectors=4 --set gaussians=8 --set mask_ratio=0.4 --set batch_size=8 ";

// Chains, rings, salts and single atoms: 30 rows in all, one of them no molecule if asked for.
void write_molecules(const TempDir& dir, const std::string& name = "m.csv", bool with_invalid = false) {
  std::string text = "smiles,y\n";
  for (int k = 1; k <= 9; ++k) {
    const std::string chain(k, 'C');
    text += chain + "O,1\n" + chain + "c1ccccc1,0\n[Na+]." + chain + "(=O)[O-],1\n";
  }
  text += "C,0\n[Na+].[Cl-],1\n" + std::string(with_invalid ? "not" : "CCN") + ",0\n";
  dir.write(name, text);
}

TEST(CliMolecules, PretrainAndEmbed) {
  const TempDir dir;
  write_molecules(dir);
  const Outcome trained = run(dir, std::string("pretrain m.csv -o r --epochs 3 --json") + kSmallMolecules);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("note: molecules without --recipe: what is not set comes from recipe molecules"),
            std::string::npos);
  const json results = json::parse(trained.out);
  EXPECT_EQ(results["epochs"], 3);
  EXPECT_LT(results["final_loss"].get<double>(), 2);
  EXPECT_NEAR(results["molecules_per_second"].get<double>(), 30 / results["seconds_per_epoch"].get<double>(), 1e-6);
  EXPECT_EQ(json::parse(slurp(dir / "r/results.json")), results);
  EXPECT_NE(slurp(dir / "r/config.yaml").find("encoder: gated_gcn\n"), std::string::npos);
  EXPECT_NE(slurp(dir / "r/config.yaml").find("skip_zero_eigenvalues: true\n"), std::string::npos);
  EXPECT_FALSE(json::parse(slurp(dir / "r/environment.json"))["data_hash"].get<std::string>().empty());

  const Outcome embedded = run(dir, "embed r m.csv -o e.npy --json");
  ASSERT_EQ(embedded.code, 0) << embedded.err;
  EXPECT_EQ(json::parse(embedded.out)["rows"], 30);
  EXPECT_EQ(read_npy(dir / "e.npy").shape, (std::vector<int64_t>{30, 16}));
  ASSERT_EQ(run(dir, "embed r m.csv -o e.csv").code, 0);
  EXPECT_TRUE(slurp(dir / "e.csv").starts_with("molecule,e0,"));
  EXPECT_NE(slurp(dir / "e.csv").find("\nCc1ccccc1,"), std::string::npos);

  // A row that is no molecule keeps its place if asked to; the others are what they are without it.
  write_molecules(dir, "i.csv", true);
  ASSERT_EQ(run(dir, "embed r i.csv -o i.npy --on-invalid nan").code, 0);
  const Buffer<float> all = read_npy(dir / "e.npy").to_float(), some = read_npy(dir / "i.npy").to_float();
  ASSERT_EQ(some.size(), all.size());
  EXPECT_EQ(std::vector<float>(some.begin(), some.end() - 16), std::vector<float>(all.begin(), all.end() - 16));
  for (auto value = some.end() - 16; value != some.end(); ++value) EXPECT_TRUE(std::isnan(*value));
  const Outcome nan = run(dir, std::string("pretrain i.csv -o n --epochs 1 --on-invalid nan --json") + kSmallMolecules);
  ASSERT_EQ(nan.code, 0) << nan.err;
}

TEST(CliMolecules, TheRecipeSaysHowMoleculesAreRead) {
  const TempDir dir;
  write_molecules(dir);
  const auto atom_codes = [&](const std::string& run) {
    return json::parse(slurp(dir / (run + "/model/config.json")))["atom_codes"].size();
  };
  const std::string small = std::string(kSmallMolecules) + " --set layers=1 -q ";
  ASSERT_EQ(run(dir, "pretrain m.csv -o r --recipe zinc --epochs 1" + small).code, 0);
  EXPECT_EQ(atom_codes("r"), 2u);
  EXPECT_NE(slurp(dir / "r/config.yaml").find("featurizer: transfer\n"), std::string::npos);
  EXPECT_EQ(run(dir, "pretrain m.csv -o r --resume -q").code, 0);  // the same data, though no recipe is named
  EXPECT_EQ(run(dir, "embed r m.csv -o e.npy").code, 0);
  ASSERT_EQ(run(dir, "pretrain m.csv -o o --recipe zinc --featurizer ogb --epochs 1" + small).code, 0);
  EXPECT_EQ(atom_codes("o"), 9u);
  ASSERT_EQ(run(dir, "pretrain m.csv -o s --config r/config.yaml -q").code, 0);
  EXPECT_EQ(atom_codes("s"), 2u);
  const Outcome shards = run(dir, "convert m.csv -o p --to shards --recipe zinc --json");
  ASSERT_EQ(shards.code, 0) << shards.err;
  EXPECT_EQ(json::parse(shards.out)["featurizer"], "transfer");
}

TEST(CliMolecules, RefusesWhatCannotWork) {
  const TempDir dir;
  write_molecules(dir);
  test::make_graph(dir);
  const std::string small = kSmallMolecules;
  expect_failure(dir, "pretrain m.csv -o r -q --recipe chameleon", 2, "molecules need encoder=gated_gcn");
  expect_failure(dir, "pretrain m.csv -o r -q --set encoder=gat", 2, "molecules need encoder=gated_gcn");
  expect_failure(dir, "pretrain g -o r -q --recipe molbace", 2, "one graph needs encoder=gat");
  expect_failure(dir, "pretrain m.csv -o r -q --set replace_ratio=0.1", 2, "replace_ratio means nothing for molecules");
  expect_failure(dir, "pretrain m.csv -o r -q --set mask_ratio=0.001", 2, "masks none of the");
  EXPECT_FALSE(fs::exists(dir / "r"));
  ASSERT_EQ(run(dir, "pretrain m.csv -o r -q --epochs 1" + small).code, 0);
  const std::string before = slurp(dir / "m.csv");
  expect_failure(dir, "embed r m.csv -o ./m.csv -q", 2, "-o ./m.csv: is the file that is read, and would be replaced");
  EXPECT_EQ(slurp(dir / "m.csv"), before);
  expect_failure(dir, "embed r m.csv -o e.npy -q --featurizer transfer", 3,
                 "m.csv: the model was trained on codes of featurizer ogb, the data have those of transfer");
  expect_failure(dir, "embed r m.csv -o e.npy -q --memory 1GB", 2, "are for the nodes of a graph");
  expect_failure(dir, "embed r m.csv -o none/e.npy -q", 3, "error: none/e.npy: its directory does not exist");
  EXPECT_EQ(run(dir, "pretrain m.csv --resume -o r --dry-run -q").code, 0);
  expect_failure(dir, "embed r g -o e.npy", 3, "g: the model was trained on molecules, the data are one graph");
  EXPECT_FALSE(fs::exists(dir / "e.npy"));
}

TEST(CliMolecules, DryRunWritesNothing) {
  const TempDir dir;
  write_molecules(dir);
  const Outcome outcome = run(dir, "pretrain m.csv --dry-run -o r --recipe molbace");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("encoder.atom0                        [120, 300]"), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(dir / "r"));
  const json estimate = json::parse(run(dir, "pretrain m.csv --dry-run --json --recipe molbace").out);
  int64_t parameters = 0;
  for (const auto& [name, shape] : estimate["shapes"].items()) {
    if (name.find('.') == std::string::npos || name.find(".running_") != std::string::npos) continue;
    int64_t count = 1;
    for (const int64_t length : shape) count *= length;
    parameters += count;
  }
  EXPECT_EQ(estimate["parameters"], parameters);
  EXPECT_EQ(estimate["shapes"]["molecules"], json({30}));
  EXPECT_GT(estimate["seconds_per_epoch"].get<double>(), 0);
}

TEST(CliMolecules, KilledRunsResumeToTheSameBytes) {
  const TempDir dir;
  write_molecules(dir);
  const std::string settings = std::string(kSmallMolecules) + " --epochs 60 --dropout 0.2 --checkpoint-every 3 -q ";
  ASSERT_EQ(run(dir, "pretrain m.csv -o whole" + settings).code, 0);
  int kills = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    // A busy machine may take longer to begin: kills before that would show nothing.
    const double later = fs::exists(dir / "killed/config.yaml") ? 0 : 0.5 * attempt;
    const std::string launcher = "timeout -s KILL " + std::to_string(0.6 + 0.17 * (attempt % 7) + later);
    const Outcome outcome = run(dir, "pretrain m.csv -o killed --resume" + settings, launcher);
    if (outcome.code == 0) break;
    ASSERT_EQ(outcome.code, 137) << outcome.err;
    ++kills;
  }
  EXPECT_GT(kills, 0);
  ASSERT_EQ(run(dir, "pretrain m.csv -o killed --resume -q").code, 0);
  EXPECT_EQ(slurp(dir / "whole/model/model.safetensors"), slurp(dir / "killed/model/model.safetensors"));
  EXPECT_EQ(losses(dir / "whole/metrics.jsonl"), losses(dir / "killed/metrics.jsonl"));
}

// An interrupt is obeyed inside an epoch; the run goes on from that step and ends with the same bytes.
TEST(CliMolecules, InterruptedInsideAnEpoch) {
  const TempDir dir;
  std::string text = "smiles\n";
  for (int k = 0; k < 400; ++k) text += std::string(1 + k % 5, 'C') + "N" + std::string(1 + k % 7, 'C') + "\n";
  dir.write("m.csv", text);
  const std::string settings = std::string(kSmallMolecules) + " --set batch_size=1 --epochs 3 ";
  ASSERT_EQ(run(dir, "pretrain m.csv -o whole -q" + settings).code, 0);
  const Outcome stopped = run_and_signal(dir, "pretrain m.csv -o r" + settings, "INT", 1);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find(", step "), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.err.find("--resume goes on from there"), std::string::npos) << stopped.err;
  int64_t inside = 0;
  for (const auto& entry : fs::directory_iterator(dir / "r/checkpoints"))
    inside += entry.path().string().find(".step-") != std::string::npos;
  EXPECT_EQ(inside, 1);
  const Outcome resumed = run(dir, "pretrain m.csv -o r --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find(", step "), std::string::npos) << resumed.err;
  EXPECT_EQ(resumed.err.find("recipe molecules"), std::string::npos) << resumed.err;
  EXPECT_EQ(slurp(dir / "whole/model/model.safetensors"), slurp(dir / "r/model/model.safetensors"));
  EXPECT_EQ(losses(dir / "whole/metrics.jsonl"), losses(dir / "r/metrics.jsonl"));
}

}  // namespace
}  // namespace graphpae
