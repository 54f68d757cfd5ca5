#include "sketch/trace/schedule.h"

#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;

Schedule Example() {
  ScheduleWriter w;
  const Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {{8, 8}, {1, 48}});
  w.ComputeAt(t, tasks[1]);
  std::vector<Handle> k = w.Split(w.Loop(t, "k"), {1, 32});
  w.Reorder({k[0], k[1]});
  w.SetLayout("B", "(32, 48) [d1/16, d0, d1%16]");
  w.CacheWrite(t, "registers");
  w.Tensorize(t, k[1], "batch_reduce");
  return std::move(w).Finish();
}

TEST(ScheduleTest, TextNamesHandlesInOrderOfCreation) {
  EXPECT_EQ(Example().ToString(),
            "%0 = block \"T\"\n"
            "%1 = block \"Y\"\n"
            "%2, %3 = group_tile %1 by [8, 8] [1, 48]\n"
            "compute_at %0, %3\n"
            "%4 = loop %0 \"k\"\n"
            "%5, %6 = split %4 by [1, 32]\n"
            "reorder %5, %6\n"
            "set_layout \"B (32, 48) [d1/16, d0, d1%16]\"\n"
            "%7 = cache_write %0 \"registers\"\n"
            "tensorize %0, %6 \"batch_reduce\"\n");
}

TEST(ScheduleTest, ProtoRoundTripKeepsEverything) {
  Schedule schedule = Example();
  schedule.generator = "contraction";
  schedule.decisions = {{"tile.rows", "14"}, {"pack", "panels"}};
  TW_ASSERT_OK_AND_ASSIGN(Schedule back,
                          Schedule::FromProto(schedule.ToProto()));
  EXPECT_EQ(back, schedule);
  EXPECT_EQ(back.ToProto().SerializeAsString(),
            schedule.ToProto().SerializeAsString());
  back.decisions[0].value = "13";
  EXPECT_FALSE(back == schedule);
}

TEST(ScheduleTest, ProtoOfANewerVersionIsRefused) {
  ScheduleProto proto = Example().ToProto();
  proto.mutable_instructions(0)->set_primitive("teleport");
  EXPECT_THAT(
      Schedule::FromProto(proto).status(),
      StatusIs(StatusCode::kInvalidArgument, "unknown primitive 'teleport'"));
}

TEST(FactorsTest, CoverTheirLoop) {
  EXPECT_THAT(CheckFactors({8, 8}, 60), IsOk());
  EXPECT_THAT(CheckFactors({2, 3, 8}, 48), IsOk());
  EXPECT_THAT(CheckFactors({}, 60),
              StatusIs(StatusCode::kInvalidArgument, "at least one factor"));
  EXPECT_THAT(CheckFactors({7, 8}, 60), StatusIs(StatusCode::kInvalidArgument,
                                                 "the factors cover 56 of 60"));
  EXPECT_THAT(CheckFactors({9, 8}, 60),
              StatusIs(StatusCode::kInvalidArgument,
                       "the outermost factor 9 has an empty iteration"));
  EXPECT_THAT(CheckFactors({0, 8}, 60),
              StatusIs(StatusCode::kInvalidArgument, "factor 0 is below 1"));
  EXPECT_THAT(CheckFactors({int64_t{1} << 40, int64_t{1} << 40}, 60),
              StatusIs(StatusCode::kInvalidArgument, "empty iteration"));
}

}  // namespace
}  // namespace tilewright::sketch
