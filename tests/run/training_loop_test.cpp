#include "graphpae/run/training_loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae::run {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

// Three steps an epoch; its loss is the number of the last step.
class Counting final : public Resumable {
 public:
  explicit Counting(int64_t epochs, int64_t patience = 1 << 20) : Resumable({}), patience_(patience) {
    settings_.epochs = epochs;
  }

  std::optional<EpochMetrics> train_step() override {
    go_to(steps() + 1);
    if (step_ != 0) return std::nullopt;
    return EpochMetrics{epoch_, {{"loss", static_cast<double>(steps())}, {"off", std::nan("")}}, 0.1, 2};
  }
  int64_t steps_per_epoch() const override { return 3; }
  bool done() const override { return epoch() >= std::min(settings_.epochs, patience_); }
  void save(const std::string& path, const std::string& data) const override {
    write_file(path, data + std::to_string(steps()));
  }
  void restore(const std::string& path, const std::string& data) override {
    go_to(std::stoll(read_file(path, 100).substr(data.size())));
  }

 private:
  int64_t steps() const { return epoch_ * 3 + step_; }
  void go_to(int64_t steps) {
    epoch_ = steps / 3;
    step_ = steps % 3;
  }

  int64_t patience_;
};

struct Seen {
  std::vector<ProgressReport> reports;
  std::vector<std::string> messages;
  int64_t stop_at = -1;  // after so many questions, the first before the first step
  Context context;

  Seen() {
    context.watch.progress = [this](const ProgressReport& report) { reports.push_back(report); };
    context.watch.message = [this](const std::string& line) { messages.push_back(line); };
    context.watch.stop = [this] { return stop_at-- == 0; };
  }
};

TEST(TrainingLoop, WritesALinePerEpochAndCheckpoints) {
  const TempDir dir;
  RunDirectory run = RunDirectory::create(dir / "run", false);
  Counting trainer(5);
  Seen seen;
  TrainingLoop loop{&run, "hash", 4, "", {}, [](const auto& metrics) { return std::to_string(metrics.size()); }};
  const std::vector<EpochMetrics> metrics = train(trainer, loop, seen.context);
  ASSERT_EQ(metrics.size(), 5u);
  EXPECT_EQ(metrics[4].loss(), 15);
  EXPECT_EQ(sum_of_seconds(metrics), 10);
  EXPECT_EQ(median_of_seconds(metrics), 2);
  EXPECT_EQ(test::slurp(dir / "run/metrics.jsonl").substr(0, 57),
            "{\"epoch\":1,\"loss\":3.0,\"off\":null,\"lr\":0.1,\"seconds\":2.0}\n");
  EXPECT_TRUE(fs::exists(dir / "run/checkpoints/epoch-00000004.safetensors"));
  EXPECT_TRUE(fs::exists(dir / "run/checkpoints/epoch-00000005.safetensors"));
  EXPECT_EQ(seen.reports.size(), 16u);
  EXPECT_EQ(seen.reports.front().done, 0);
  EXPECT_EQ(seen.reports.back().unit, "steps");
  EXPECT_EQ(seen.reports.back().done, 15);
  EXPECT_EQ(seen.reports.back().total, 15);
  EXPECT_EQ(seen.reports.back().note, "5");
}

TEST(TrainingLoop, StopsWithACheckpointAndGoesOn) {
  const TempDir dir;
  RunDirectory run = RunDirectory::create(dir / "run", false);
  Seen seen;
  seen.stop_at = 8;
  Counting trainer(5);
  EXPECT_ERROR(train(trainer, {&run, "hash", 100, "split 3", {}, {}}, seen.context), ErrorKind::interrupted,
               "interrupted after epoch 2, step 2 of split 3; --resume goes on from there");
  Counting again(5);
  go_on(again, run, "hash", "split 3", seen.context.watch);
  EXPECT_EQ(again.epoch(), 2);
  EXPECT_EQ(again.step(), 2);
  EXPECT_EQ(train(again, {&run, "hash", 100, "split 3", {}, {}}, seen.context).size(), 5u);
  Counting finished(5);
  go_on(finished, run, "hash", "", seen.context.watch);
  EXPECT_EQ(seen.messages, (std::vector<std::string>{"split 3: going on after epoch 2, step 2",
                                                     "the run is finished after 5 epochs"}));

  // A process that does not lead writes nothing and leaves the word to the one that does.
  seen.stop_at = 1;
  Counting follower(5);
  EXPECT_ERROR(train(follower, {}, seen.context), ErrorKind::interrupted, "");
  EXPECT_EQ(follower.step(), 1);
}

// Training that ends before its time is a finished piece of work all the same.
TEST(TrainingLoop, ReportsAnEarlyEnd) {
  Counting trainer(5, 2);
  Seen seen;
  EXPECT_EQ(train(trainer, {}, seen.context).size(), 2u);
  EXPECT_EQ(seen.reports.back().done, 6);
  EXPECT_EQ(seen.reports.back().total, 6);
}

TEST(TrainingLoop, TermsAsText) {
  const EpochMetrics metrics{
      1, {{"loss", 1}, {"loss_feature", 0.12344}, {"loss_position", 0.00119}, {"loss_off", std::nan("")}}, 0.1, 1};
  EXPECT_EQ(terms_text(metrics), "(feature 0.1234, position 1.2e-03)");
  EXPECT_EQ(terms_text({1, {{"loss", 1}}, 0.1, 1}), "");
  EXPECT_EQ(median({3, 1, 2, 10}), 2.5);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace graphpae::run
