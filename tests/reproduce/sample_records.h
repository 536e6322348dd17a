// Records for tests, as a run of recipe chameleon would leave them.
#pragma once

#include <string>
#include <vector>

#include "graphpae/reproduce/job.h"

namespace graphpae::test {

inline Record sample_record(const std::string& data, int64_t seed, std::vector<std::vector<double>> scores,
                            SettingList set = {}) {
  Record record;
  set.emplace_back("seed", std::to_string(seed));
  record.identity = {"probe", data, "hash-" + data, "", resolved_settings("chameleon", set, false)};
  record.key = job_key(record.identity);
  record.experiment = "e";
  record.variant = "v";
  record.metric = "accuracy";
  record.protocols["strict"].scores = std::move(scores);
  record.seconds = 120;
  record.training_seconds = 100;
  record.seconds_per_epoch = 0.1;
  record.peak_rss_bytes = 500000000;
  record.threads = 2;
  record.commit = "abc1234";
  record.version = "0.1.0";
  record.machine = "some processor";
  record.date = "2025-01-01T00:00:00Z";
  return record;
}

}  // namespace graphpae::test
