#include "bench/search/table_grid.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"

namespace tilewright::bench {
namespace {

// Decides among 64 numbers, 6 factors of 32 and a flag; 1 value is no choice.
sketch::Generator Numbers() {
  return {
      "numbers",
      [](const sketch::Workload&, const DeviceSpec&,
         Decider& decider) -> absl::StatusOr<sketch::Schedule> {
        SplitSpace split;
        split.extent = 32;
        split.tails = false;
        decider.DecideNumber("many", Space::Integers(1, 64), [] { return 40; });
        decider.DecideNumber("one", Space::Integers(3, 3), [] { return 3; });
        decider.Decide("split", Space::Split(split), [] {
          return DecisionValue{8, 4};
        });
        decider.DecideWhether("flag", [] { return true; });
        return sketch::Schedule();
      }};
}

TEST(TableGridTest, KnobsHaveThePreferredValueAndFitThePoints) {
  for (const int64_t points : {1, 2, 7, 30, 100, 5000}) {
    TW_ASSERT_OK_AND_ASSIGN(
        const std::vector<KnobProto> knobs,
        ChooseKnobs(Numbers(), sketch::Workload(), DeviceSpec(), points, 1));
    ASSERT_EQ(knobs.size(), 3);
    EXPECT_EQ(knobs[0].values(knobs[0].preferred()), "40");
    EXPECT_EQ(knobs[1].values(knobs[1].preferred()), "8x4");
    EXPECT_EQ(knobs[2].values(knobs[2].preferred()), "yes");
    EXPECT_LE(PointsOf(knobs), points);
    EXPECT_GE(PointsOf(knobs), std::min<size_t>(points / 2, 64 * 6 * 2));
    std::set<Answers> all;
    for (size_t point = 0; point < PointsOf(knobs); ++point)
      all.insert(AnswersAt(knobs, point));
    EXPECT_EQ(all.size(), PointsOf(knobs));
  }
}

}  // namespace
}  // namespace tilewright::bench
