#include "graphpae/report/metrics_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

TEST(MetricsFile, ColumnsOfARunThatWentOn) {
  const test::TempDir dir;
  const Metrics metrics = read_metrics(
      dir.write("m.jsonl",
                "{\"epoch\":1,\"loss\":0.5,\"loss_position\":null}\n{\"epoch\":2,\"loss\":0.4,\"lr\":0.1}\n"
                "not a line\n{\"epoch\":2,\"loss\":0.3,\"lr\":0.01}\n{\"epoch\":3,\"loss\":0.2,\"lr\":1e-3}\n{\"epo"));
  EXPECT_EQ(metrics.epochs, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(metrics.unreadable, 1);  // the half line at the end is what a killed program leaves
  ASSERT_NE(metrics.find("loss"), nullptr);
  EXPECT_EQ(metrics.find("loss")->values, (std::vector<double>{0.5, 0.3, 0.2}));
  EXPECT_TRUE(std::isnan(metrics.find("lr")->values[0]));
  EXPECT_EQ(metrics.find("loss_position"), nullptr);
  EXPECT_EQ(metrics.find("accuracy"), nullptr);
  EXPECT_EQ(metrics_csv(metrics), "epoch,loss,loss_position,lr\n1,0.5,,\n2,0.3,,0.01\n3,0.2,,0.001\n");
  EXPECT_TRUE(read_metrics(dir / "none").epochs.empty());
}

}  // namespace
}  // namespace graphpae
