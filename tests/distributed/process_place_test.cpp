#include <gtest/gtest.h>

#include <map>

#include "graphpae/distributed/processes.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

std::optional<ProcessPlace> place_in(const std::map<std::string, std::string>& variables) {
  return process_place([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(ProcessPlace, FromTheEnvironment) {
  EXPECT_FALSE(place_in({}));
  EXPECT_FALSE(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));  // any job of Slurm
  const auto place = place_in({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->size, 4);
  EXPECT_EQ(place->master, "node1");
  EXPECT_EQ(place->port, 29500);
  const std::pair<const char*, const char*> launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank, size] : launchers) {
    const auto launched = place_in({{rank, "1"}, {size, "2"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}});
    ASSERT_TRUE(launched) << rank;
    EXPECT_EQ(launched->rank, 1);
    EXPECT_EQ(launched->size, 2);
  }
}

TEST(ProcessPlace, NamesWhatIsMissingOrWrong) {
  EXPECT_USAGE_ERROR(place_in({{"WORLD_SIZE", "2"}}), "WORLD_SIZE is set and RANK is not");
  EXPECT_USAGE_ERROR(place_in({{"RANK", "0"}}), "RANK is set and WORLD_SIZE is not");
  EXPECT_USAGE_ERROR(place_in({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), "MASTER_ADDR is not");
  EXPECT_USAGE_ERROR(place_in({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}), "MASTER_PORT is not");
  EXPECT_USAGE_ERROR(place_in({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
                     "RANK=2: expected a number from 0 to 1");
  EXPECT_USAGE_ERROR(place_in({{"RANK", "0"}, {"WORLD_SIZE", "two"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
                     "WORLD_SIZE=two");
  EXPECT_USAGE_ERROR(place_in({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "99999"}}),
                     "MASTER_PORT=99999");
}

}  // namespace
}  // namespace graphpae
