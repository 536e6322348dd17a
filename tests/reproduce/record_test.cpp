#include "graphpae/reproduce/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "graphpae/reproduce/job.h"
#include "graphpae/reproduce/work_directory.h"
#include "tests/reproduce/sample_records.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::sample_record;
using test::slurp;
using test::TempDir;

void set(SettingList& settings, const std::string& key, const std::string& value) {
  for (auto& [name, old] : settings) {
    if (name == key) old = value;
  }
}

TEST(Record, SurvivesItsLine) {
  Record record = sample_record("chameleon", 2, {{0.5, 0.25}, {0.75, 1}});
  record.protocols["strict"].validation = 0.6;
  record.protocols["strict"].baselines["untrained"] = {0.4, 0.01};
  record.protocols["paper"].targets["mu"] = 3.5;
  record.identity.from = "abc";
  const std::string line = to_json_line(record);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  const auto back = record_from_json_line(line);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json_line(*back), line);
  EXPECT_EQ(back->protocols.at("strict").scores, (std::vector<std::vector<double>>{{0.5, 0.25}, {0.75, 1}}));
  EXPECT_DOUBLE_EQ(back->protocols.at("paper").targets.at("mu"), 3.5);
  EXPECT_EQ(back->identity.seed(), 2);
  EXPECT_EQ(back->peak_rss_bytes, record.peak_rss_bytes);
}

TEST(Record, ValuesThatHadAnotherNameAreTheSame) {
  Record record = sample_record("chameleon", 0, {{0.5}});
  JobIdentity job = record.identity;
  ASSERT_NE(find_setting(job.settings, "schedule"), nullptr);
  set(job.settings, "schedule", "constant");
  set(record.identity.settings, "schedule", "none");
  const auto back = record_from_json_line(to_json_line(record));
  ASSERT_TRUE(back);
  EXPECT_TRUE(answers(*back, job));
}

TEST(Record, AnswersTheSameQuestionOnly) {
  const Record record = sample_record("chameleon", 0, {{0.5}});
  const JobIdentity job = record.identity;
  EXPECT_TRUE(answers(record, job));
  const auto refused = [&](const std::function<void(JobIdentity&)>& change) {
    JobIdentity other = job;
    change(other);
    return !answers(record, other);
  };
  EXPECT_TRUE(refused([](JobIdentity& j) { set(j.settings, "alpha", "0.5"); }));
  EXPECT_TRUE(refused([](JobIdentity& j) { set(j.settings, "seed", "1"); }));
  EXPECT_TRUE(refused([](JobIdentity& j) { set(j.settings, "epochs", "7"); }));
  EXPECT_TRUE(refused([](JobIdentity& j) { j.data = "squirrel"; }));
  EXPECT_TRUE(refused([](JobIdentity& j) { j.data_hash = "other"; }));
  EXPECT_TRUE(refused([](JobIdentity& j) { j.verb = "supervised"; }));
  EXPECT_TRUE(refused([](JobIdentity& j) { j.from = "x"; }));
  EXPECT_FALSE(refused([](JobIdentity& j) { j.data_hash = ""; }));  // not known: the data are not here

  JobIdentity other = job;
  set(other.settings, "seed", "9");
  set(other.settings, "epochs", "7");
  EXPECT_TRUE(answers_but_for_seed_and_epochs(record, other));
  set(other.settings, "alpha", "0.5");
  EXPECT_FALSE(answers_but_for_seed_and_epochs(record, other));

  // A run that was cut warmed up for the same part of it.
  const Record cut = sample_record("chameleon", 0, {{0.5}}, {{"epochs", "50"}, {"warmup", "5"}});
  const JobIdentity whole = sample_record("chameleon", 0, {{0.5}}, {{"warmup", "100"}}).identity;
  EXPECT_TRUE(answers_but_for_seed_and_epochs(cut, whole));
  EXPECT_FALSE(answers_but_for_seed_and_epochs(cut, job));
  JobIdentity transfer = job;
  Record transferred = record;
  transfer.from = "key:100";
  transferred.identity.from = "key:1";
  EXPECT_TRUE(answers_but_for_seed_and_epochs(transferred, transfer));
  EXPECT_FALSE(answers(transferred, transfer));
  transferred.identity.from = "yek:100";
  EXPECT_FALSE(answers_but_for_seed_and_epochs(transferred, transfer));
}

// Records live for weeks, and the program gets new settings meanwhile.
TEST(Record, SettingsItDoesNotKnowHadTheirDefaults) {
  Record old = sample_record("chameleon", 0, {{0.5}});
  const JobIdentity job = old.identity;
  std::erase_if(old.identity.settings, [](const auto& setting) {
    return setting.first == "shared_deviation" || setting.first == "featurizer";
  });
  EXPECT_TRUE(answers(old, job));
  JobIdentity other = job;
  set(other.settings, "shared_deviation", "true");
  EXPECT_FALSE(answers(old, other));
  other = job;
  set(other.settings, "featurizer", "transfer");
  EXPECT_FALSE(answers(old, other));
  old.identity.settings.emplace_back("a_setting_that_is_gone", "1");
  EXPECT_FALSE(answers(old, job));
}

TEST(JobKey, DependsOnAllThatAJobComputes) {
  const JobIdentity job = sample_record("chameleon", 0, {{0.5}}).identity;
  std::vector<std::string> keys = {job_key(job)};
  EXPECT_EQ(job_key(job), keys[0]);
  const auto add = [&](const std::function<void(JobIdentity&)>& change) {
    JobIdentity other = job;
    change(other);
    keys.push_back(job_key(other));
  };
  add([](JobIdentity& j) { set(j.settings, "alpha", "0.5"); });
  add([](JobIdentity& j) { set(j.settings, "seed", "1"); });
  add([](JobIdentity& j) { set(j.settings, "epochs", "7"); });
  add([](JobIdentity& j) { j.data = "squirrel"; });
  add([](JobIdentity& j) { j.data_hash = "other"; });
  add([](JobIdentity& j) { j.verb = "supervised"; });
  add([](JobIdentity& j) { j.from = "x"; });
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(ResultLog, GrowsAndIgnoresATornEnd) {
  const TempDir dir;
  const std::string log = dir / "results.jsonl";
  EXPECT_TRUE(read_log(log).empty());
  append_to_log(log, sample_record("a", 0, {{0.5}}));
  const std::string whole = slurp(log);
  // A process was killed in the middle of a line.
  const std::string torn = to_json_line(sample_record("b", 0, {{0.5}}));
  for (const size_t size : {size_t{1}, torn.size() / 2, torn.size() - 1}) {
    dir.write("results.jsonl", whole + torn.substr(0, size));
    // Only its end is missing: that is a whole record all the same.
    EXPECT_EQ(read_log(log).size(), size == torn.size() - 1 ? 2u : 1u);
    append_to_log(log, sample_record("c", 0, {{0.5}}));
    const std::vector<Record> records = read_log(log);
    ASSERT_EQ(records.size(), size == torn.size() - 1 ? 3u : 2u) << size;
    EXPECT_EQ(records.front().identity.data, "a");
    EXPECT_EQ(records.back().identity.data, "c");
  }
}

TEST(ResultLog, TakesLinesFromSeveralWriters) {
  const TempDir dir;
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      const std::string log = dir / "results.jsonl";
      for (int k = 0; k < 25; ++k) append_to_log(log, sample_record(std::to_string(w), k, {{0.5}}));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_log(dir / "results.jsonl").size(), 100u);
}

TEST(ResultLog, SaysWhyItCannotWrite) {
  const TempDir dir;
  EXPECT_DATA_ERROR(append_to_log(dir / "no/such/results.jsonl", sample_record("a", 0, {{0.5}})), "results.jsonl");
}

TEST(JobLock, IsForOneAtATime) {
  const TempDir dir;
  auto lock = try_lock(dir / "l");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(try_lock(dir / "l"));
  EXPECT_TRUE(try_lock(dir / "other"));
  lock.reset();
  EXPECT_TRUE(try_lock(dir / "l"));
  EXPECT_DATA_ERROR(try_lock(dir / "no/such/l"), "no/such/l");
}

TEST(Job, SettingsComeFromRecipeRowVariantAndRestrictionsInTurn) {
  Experiment e;
  e.rows = {{"One", {"one"}, "chameleon", {{"alpha", "0.5"}, {"width", "64"}}, "", {}, ""}};
  e.variants.resize(2);
  e.variants[0].name = "v";
  e.variants[0].set = {{"alpha", "0.25"}, {"finetune.patience", "3"}};
  e.variants[1] = e.variants[0];
  e.variants[1].measurement = Measurement::supervised;
  const auto value = [](const Job& job, const std::string& key) {
    for (const auto& [name, text] : job.identity.settings) {
      if (name == key) return text;
    }
    return std::string("none");
  };
  const FoundData data{"one", "/d", "hash"};
  const Job job = make_job(e, 0, 0, 4, {}, data, {});
  EXPECT_EQ(value(job, "alpha"), "0.25");
  EXPECT_EQ(value(job, "width"), "64");
  EXPECT_EQ(value(job, "layers"), "3");  // of the recipe
  EXPECT_EQ(job.identity.epochs(), 1000);
  EXPECT_EQ(job.identity.seed(), 4);
  EXPECT_EQ(value(job, "finetune.patience"), "none");
  EXPECT_EQ(value(make_job(e, 0, 1, 4, {}, data, {}), "finetune.patience"), "3");
  JobOptions options;
  options.share = 0.1239;
  EXPECT_EQ(make_job(e, 0, 0, 4, options, data, {}).identity.epochs(), 120);
  options.epochs = 500;
  EXPECT_EQ(make_job(e, 0, 0, 4, options, data, {}).identity.epochs(), 61);
  options = {};
  options.epochs = 7;
  EXPECT_EQ(make_job(e, 0, 0, 4, options, data, {}).identity.epochs(), 7);
  EXPECT_EQ(recipe_epochs(e, 0, 0), 1000);
  e.variants[0].set = {{"warmup", "100"}};
  EXPECT_EQ(value(make_job(e, 0, 0, 4, {}, data, {}), "warmup"), "100");
  options.epochs = 50;
  EXPECT_EQ(value(make_job(e, 0, 0, 4, options, data, {}), "warmup"), "5");
  e.variants[0].set = {{"alhpa", "1"}};
  EXPECT_USAGE_ERROR(make_job(e, 0, 0, 4, {}, data, {}), "did you mean 'alpha'?");
}

// The result of pre-training on other data is part of what fine-tuning computes.
TEST(Job, TransferDependsOnItsPretraining) {
  const Experiment e = find_experiment("table4");
  const FoundData data{"qm9", "/d", "hash"};
  const Job a = make_job(e, 0, 0, 0, {}, data, {"zinc250k", "/d", "h"}),
            b = make_job(e, 0, 1, 0, {}, data, {"zinc250k", "/d", "h"}),
            c = make_job(e, 0, 0, 0, {}, data, {"zinc_2m", "/d", "h"}),
            d = make_job(e, 0, 0, 1, {}, data, {"zinc250k", "/d", "h"});
  ASSERT_TRUE(a.pretrain);
  EXPECT_EQ(a.pretrain->identity.verb, "pretrain");
  EXPECT_NE(a.identity.from, b.identity.from);
  EXPECT_NE(a.identity.from, c.identity.from);
  EXPECT_EQ(a.identity.from, d.identity.from);  // once for all seeds
  EXPECT_FALSE(make_job(e, 0, 2, 0, {}, data, {}).pretrain);
}

TEST(Job, CutEpochsHaveTwoDigits) {
  EXPECT_EQ(shared_epochs(1000, 1), 1000);
  EXPECT_EQ(shared_epochs(1000, 0.4567), 450);
  EXPECT_EQ(shared_epochs(1000, 0.0567), 56);
  EXPECT_EQ(shared_epochs(20, 0.001), 1);
  EXPECT_EQ(shared_epochs(20, 2), 20);
}

}  // namespace
}  // namespace graphpae
