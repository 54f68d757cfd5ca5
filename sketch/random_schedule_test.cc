#include "sketch/random_schedule.h"

#include <cstdlib>
#include <set>
#include <string>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/block_tree_verifier.h"
#include "sketch/replay.h"
#include "sketch/test_workloads.h"
#include "tilegraph/random_graph.h"

namespace tilewright::sketch {
namespace {

// More with TILEWRIGHT_SEEDS.
uint64_t Seeds(uint64_t by_default) {
  const char* text = std::getenv("TILEWRIGHT_SEEDS");
  return text == nullptr ? by_default : std::strtoull(text, nullptr, 10);
}

TEST(RandomScheduleTest, ReplaysAndComputesWhatTheGraphMeans) {
  std::set<std::string> used;
  for (uint64_t seed = 0; seed < Seeds(250); ++seed) {
    Workload workload = DrawWorkload(seed);
    TW_ASSERT_OK_AND_ASSIGN(Schedule schedule, RandomSchedule(workload, seed));
    for (const Instruction& i : schedule.instructions) used.emplace(Name(i.primitive));
    absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
    ASSERT_THAT(tree.status(), IsOk()) << "seed " << seed << "\n" << schedule.ToString();
    ASSERT_THAT(VerifyBlockTree(*tree), IsOk()) << "seed " << seed << "\n" << schedule.ToString() << tree->ToString();
    ASSERT_THAT(CheckTree(*tree, workload, seed), IsOk()) << "seed " << seed << "\n" << schedule.ToString() << tree->ToString();
  }
  // Everything but tensorize, whose intrinsics are declared elsewhere.
  EXPECT_EQ(used.size(), 15u);
}

TEST(RandomScheduleTest, ReplaysOnEveryKindOfGraph) {
  for (uint64_t seed = 0; seed < Seeds(250); ++seed) {
    Workload workload;
    workload.graph = RandomGraph(seed);
    TW_ASSERT_OK_AND_ASSIGN(Schedule schedule, RandomSchedule(workload, seed));
    absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
    ASSERT_THAT(tree.status(), IsOk()) << "seed " << seed << "\n" << schedule.ToString();
    ASSERT_THAT(VerifyBlockTree(*tree), IsOk()) << "seed " << seed << "\n" << schedule.ToString() << tree->ToString();
    ASSERT_THAT(CheckTree(*tree, workload, seed), IsOk()) << "seed " << seed << "\n" << schedule.ToString() << tree->ToString();
  }
}

TEST(RandomScheduleTest, SameSeedSameSchedule) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Workload workload = DrawWorkload(seed);
    TW_ASSERT_OK_AND_ASSIGN(Schedule a, RandomSchedule(workload, seed));
    TW_ASSERT_OK_AND_ASSIGN(Schedule b, RandomSchedule(workload, seed));
    EXPECT_EQ(a.ToString(), b.ToString());
  }
}

}  // namespace
}  // namespace tilewright::sketch
