#include "sketch/testing/checked_stages.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_verifier.h"

namespace tilewright::sketch {

std::string CheckedStages(const FusedWorkload& fused, const DeviceSpec& spec) {
  const std::string what = absl::StrCat(
      fused.workload.graph.tensors().back().name, " in tiles of ",
      absl::StrJoin(fused.plan.tile, " "), "\n", fused.workload.Text());
  const absl::StatusOr<Schedule> schedule =
      FusedSchedule(fused.workload, spec, fused.plan);
  EXPECT_THAT(schedule.status(), IsOk()) << what;
  if (!schedule.ok()) return "";
  const absl::StatusOr<BlockTree> tree = Replay(fused.workload, *schedule);
  EXPECT_THAT(tree.status(), IsOk()) << what << schedule->ToString();
  if (!tree.ok()) return "";
  EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << what << tree->ToString();
  EXPECT_THAT(CheckTree(*tree, fused.workload, 5), IsOk())
      << what << tree->ToString();
  return tree->ToString();
}

}  // namespace tilewright::sketch
