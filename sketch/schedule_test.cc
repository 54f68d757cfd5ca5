#include "sketch/schedule.h"

#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/schedule.pb.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;

Schedule Example() {
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  Decision m = SplitDecision("mt", 64, {8, 8});
  m.innermost_cap = 14;
  std::vector<Handle> tasks =
      w.GroupTile({y}, {m, SplitDecision("nt", 48, {1, 48}, /*tails=*/false)});
  w.ComputeAt(t, tasks[1]);
  std::vector<Handle> k =
      w.Split(w.Loop(t, "k"), SplitDecision("kt", 32, {1, 32}));
  w.Reorder({k[0], k[1]});
  w.SetLayout("B", "(32, 48) [d1/16, d0, d1%16]");
  w.CacheWrite(t, "registers");
  w.Tensorize(t, k[1], "batch_reduce");
  return std::move(w).Finish();
}

TEST(ScheduleTest, TextNamesHandlesInOrderOfCreation) {
  EXPECT_EQ(Example().ToString(),
            "\"mt\": split [8, 8] of 64 parts 2 innermost <= 14\n"
            "\"nt\": split [1, 48] of 48 parts 2 no tails\n"
            "\"kt\": split [1, 32] of 32 parts 2\n"
            "%0 = block \"T\"\n"
            "%1 = block \"Y\"\n"
            "%2, %3 = group_tile %1 by \"mt\", \"nt\"\n"
            "compute_at %0, %3\n"
            "%4 = loop %0 \"k\"\n"
            "%5, %6 = split %4 by \"kt\"\n"
            "reorder %5, %6\n"
            "set_layout \"B (32, 48) [d1/16, d0, d1%16]\"\n"
            "%7 = cache_write %0 \"registers\"\n"
            "tensorize %0, %6 \"batch_reduce\"\n");
}

TEST(ScheduleTest, ProtoRoundTripKeepsEverything) {
  Schedule schedule = Example();
  Decision choice;
  choice.name = "unroll";
  choice.kind = Decision::Kind::kChoice;
  choice.options = {"yes", "no \"quoted\""};
  choice.open = true;
  schedule.decisions.push_back(choice);
  TW_ASSERT_OK_AND_ASSIGN(Schedule back,
                          Schedule::FromProto(schedule.ToProto()));
  EXPECT_EQ(back, schedule);
  EXPECT_EQ(back.ToProto().SerializeAsString(),
            schedule.ToProto().SerializeAsString());
  back.decisions[0].innermost_cap = 13;
  EXPECT_FALSE(back == schedule);
}

TEST(ScheduleTest, ProtoOfANewerVersionIsRefused) {
  ScheduleProto proto = Example().ToProto();
  proto.mutable_instructions(0)->set_primitive("teleport");
  EXPECT_THAT(
      Schedule::FromProto(proto).status(),
      StatusIs(StatusCode::kInvalidArgument, "unknown primitive 'teleport'"));
  proto = Example().ToProto();
  proto.mutable_decisions(0)->set_kind(static_cast<DecisionProto::Kind>(99));
  EXPECT_THAT(Schedule::FromProto(proto).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "decision 'mt' has unknown kind 99"));
}

TEST(DecisionTest, SplitChecksItsConstraints) {
  EXPECT_THAT(SplitDecision("s", 60, {8, 8}).Check(), IsOk());
  EXPECT_THAT(SplitDecision("s", 60, {7, 8}).Check(),
              StatusIs(StatusCode::kInvalidArgument,
                       "'s': the factors cover 56 of 60"));
  EXPECT_THAT(SplitDecision("s", 60, {9, 8}).Check(),
              StatusIs(StatusCode::kInvalidArgument,
                       "the outermost factor 9 has an empty iteration"));
  EXPECT_THAT(SplitDecision("s", 60, {8, 8}, false).Check(),
              StatusIs(StatusCode::kInvalidArgument, "without tails"));
  EXPECT_THAT(SplitDecision("s", 60, {0, 8}).Check(),
              StatusIs(StatusCode::kInvalidArgument, "factor 0 is below 1"));
  EXPECT_THAT(
      SplitDecision("s", 60, {int64_t{1} << 40, int64_t{1} << 40}).Check(),
      StatusIs(StatusCode::kInvalidArgument, "empty iteration"));
  Decision capped = SplitDecision("s", 60, {4, 15});
  capped.innermost_cap = 14;
  EXPECT_THAT(capped.Check(), StatusIs(StatusCode::kInvalidArgument,
                                       "innermost factor 15 exceeds 14"));
  capped.parts = 3;
  EXPECT_THAT(capped.Check(),
              StatusIs(StatusCode::kInvalidArgument, "2 factors for 3 parts"));
}

TEST(DecisionTest, OtherKindsCheckTheirs) {
  Decision d;
  d.name = "d";
  d.kind = Decision::Kind::kPermutation;
  d.parts = 3;
  d.value = {2, 0, 1};
  EXPECT_THAT(d.Check(), IsOk());
  d.value = {2, 0, 2};
  EXPECT_THAT(d.Check(),
              StatusIs(StatusCode::kInvalidArgument, "is no order of 0..2"));
  d.kind = Decision::Kind::kChoice;
  d.options = {"a"};
  d.value = {1};
  EXPECT_THAT(d.Check(), StatusIs(StatusCode::kInvalidArgument,
                                  "must name one of its 1 options"));
  d.kind = Decision::Kind::kLocation;
  d.value = {-3};
  EXPECT_THAT(d.Check(), StatusIs(StatusCode::kInvalidArgument, "loop handle"));
}

}  // namespace
}  // namespace tilewright::sketch
