// skip_zeros: steps of a sum that multiply a known zero are left out, wherever
// the instruction stands, and what has no such steps is refused.
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/random_schedule.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_verifier.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;

Workload Conv() { return HaloConvRelu(2, 3, 7, 8, 3, 2, 1, 1, 2); }

std::string ConditionOf(const BlockTree& tree, const std::string& name) {
  for (const Block* block : AllBlocks(tree)) {
    if (block->name == name && block->nonzero) return block->nonzero.ToString();
  }
  return "none";
}

BlockTree Correct(const Workload& workload, ScheduleWriter writer) {
  const Schedule schedule = std::move(writer).Finish();
  absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
  EXPECT_THAT(tree.status(), IsOk()) << schedule.ToString();
  if (!tree.ok()) return {};
  EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << tree->ToString();
  EXPECT_THAT(CheckTree(*tree, workload, 7), IsOk()) << tree->ToString();
  return *std::move(tree);
}

void ExpectRefused(const Workload& workload, ScheduleWriter writer,
                   const std::string& message) {
  EXPECT_THAT(Replay(workload, std::move(writer).Finish()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(SkipZerosTest, LeavesOutTheStepsAlongTheDimensions) {
  ScheduleWriter w;
  w.SkipZeros(w.Block("C"), "X", {2});
  EXPECT_EQ(ConditionOf(Correct(Conv(), std::move(w)), "C"),
            "x2 * 2 + x5 >= 1 && x2 * 2 + x5 < 8");
}

TEST(SkipZerosTest, ReadsCopiesLikeTheTensor) {
  ScheduleWriter w;
  const Handle c = w.Block("C");
  w.CacheRead(c, w.Loop(c, "oh"), "X", "scratch");
  w.SkipZeros(c, "X", {2, 3});
  Correct(Conv(), std::move(w));
}

TEST(SkipZerosTest, HoldsForPartialResults) {
  ScheduleWriter w;
  const Handle c = w.Block("C");
  w.SkipZeros(c, "X", {2, 3});
  w.RFactor(c, w.Loop(c, "kh"));
  const BlockTree tree = Correct(Conv(), std::move(w));
  EXPECT_NE(ConditionOf(tree, "C.rf"), "none");
  EXPECT_EQ(ConditionOf(tree, "C"), "none");
}

TEST(SkipZerosTest, WhatComputesZerosIsKnownToo) {
  ScheduleWriter w;
  w.SkipZeros(w.Block("C"), "P", {2, 3});
  EXPECT_NE(
      ConditionOf(Correct(ConvPadRelu(2, 3, 5, 6, 3, 1, 1), std::move(w)), "C"),
      "none");
}

TEST(SkipZerosTest, RefusesWhatHasNoSuchSteps) {
  const auto refused = [](const Workload& workload, const char* block,
                          const char* tensor, std::vector<int> dims,
                          const std::string& why) {
    ScheduleWriter w;
    w.SkipZeros(w.Block(block), tensor, std::move(dims));
    ExpectRefused(workload, std::move(w), "#1 skip_zeros: " + why);
  };
  refused(Conv(), "Y", "X", {2}, "Y is no plain sum");
  refused(Conv(), "C", "Z", {2}, "'Z 2' names no tensor and dimensions");
  refused(Conv(), "C", "X", {4}, "'4' is no dimension: there are 4 of them");
  refused(Conv(), "C", "X", {}, "'' is no dimension");
  refused(Conv(), "C", "W", {2}, "no element of W is known to be zero");
  refused(Conv(), "C", "X", {1},
          "no step of C multiplies by a known zero of X");
  TW_ASSERT_OK_AND_ASSIGN(const Workload shifted, ParseWorkload(R"(
X: f32[6] = placeholder
T: f32[4] = compute (m: 4) reduce (k: 3) sum:f32 { X[m + k] + 1.0 }
return T
#zeros X (1|1)
)"));
  refused(shifted, "T", "X", {0}, "no step of T multiplies by a known zero");
  ScheduleWriter twice;
  const Handle c = twice.Block("C");
  twice.SkipZeros(c, "X", {2});
  twice.SkipZeros(c, "X", {3});
  ExpectRefused(Conv(), std::move(twice), "C is no plain sum");
}

// Any strides, dilations and paddings, among all other instructions.
TEST(SkipZerosTest, RandomSchedulesThatSkipAreCorrect) {
  int skipping = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const int64_t kernel = 1 + static_cast<int64_t>(seed % 7),
                  stride = 1 + static_cast<int64_t>(seed / 7 % 3),
                  dilation =
                      kernel < 4 ? 1 + static_cast<int64_t>(seed % 2) : 1,
                  before = static_cast<int64_t>(seed % 3),
                  after = static_cast<int64_t>(seed / 3 % 3);
    const Workload workload = HaloConvRelu(
        2, 3, (kernel - 1) * dilation + 1 + static_cast<int64_t>(seed % 4),
        (kernel - 1) * dilation + 2, kernel, stride, dilation, before, after);
    TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                            RandomSchedule(workload, seed));
    for (const Instruction& instruction : schedule.instructions)
      skipping += instruction.primitive == Primitive::kSkipZeros ? 1 : 0;
    TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
    ASSERT_THAT(VerifyBlockTree(tree), IsOk()) << tree.ToString();
    ASSERT_THAT(CheckTree(tree, workload, seed), IsOk()) << tree.ToString();
  }
  EXPECT_GT(skipping, 50);
}

}  // namespace
}  // namespace tilewright::sketch
