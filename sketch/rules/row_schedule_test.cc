#include "sketch/rules/row_schedule.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/norm_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_verifier.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::optional<Schedule> RowSchedule(const Workload& workload,
                                    const DeviceSpec& spec) {
  ScheduleWriter writer;
  PreferredPolicy policy;
  Decider decider(policy);
  if (!WriteRows(workload, spec, {writer, decider, std::nullopt, {}}))
    return std::nullopt;
  return std::move(writer).Finish();
}

// The schedule's text, once its tree was found to compute the right thing.
std::string Checked(const Workload& workload, const std::string& spec) {
  const std::optional<Schedule> schedule =
      RowSchedule(workload, *LoadSpec(spec));
  EXPECT_TRUE(schedule.has_value()) << workload.Text();
  if (!schedule) return "";
  const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
  EXPECT_THAT(tree.status(), IsOk()) << workload.Text() << schedule->ToString();
  if (!tree.ok()) return "";
  EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << tree->ToString();
  EXPECT_THAT(CheckTree(*tree, workload, 5), IsOk()) << tree->ToString();
  return schedule->ToString();
}

int Count(absl::string_view text, absl::string_view piece) {
  int count = 0;
  for (size_t at = text.find(piece); at != text.npos;
       at = text.find(piece, at + 1))
    ++count;
  return count;
}

TEST(RowScheduleTest, ComputesEveryFamilyAtEveryLength) {
  for (int family = 0; family < kRowFamilies; ++family) {
    for (const auto& [rows, elements] :
         std::vector<std::pair<int64_t, int64_t>>{
             {3, 1}, {1, 2}, {13, 5}, {6, 16}, {5, 49}, {3, 100}, {2, 131}}) {
      for (const char* spec : {"cpu_x86_64_v4", "cpu_x86_64_v2"})
        Checked(MakeRows(static_cast<RowFamily>(family), rows, elements), spec);
    }
  }
}

TEST(RowScheduleTest, BlockedChannelsAreElementsOrRows) {
  const std::vector<int64_t> norm = {1, 48, 3, 7}, instance = {2, 32, 5, 7};
  Workload over_channels = MakeRows(RowFamily::kChannelNorm, 7, 48);
  for (const char* name : {"X", "Y"})
    over_channels.layouts[*over_channels.graph.Find(name)] =
        Layout::BlockedLast(norm, 1, 16);
  EXPECT_THAT(Checked(over_channels, "cpu_x86_64_v4"), HasSubstr("rfactor"));
  Workload over_pixels = MakeRows(RowFamily::kInstanceNorm, 32, 7);
  for (const char* name : {"X", "Y"})
    over_pixels.layouts[*over_pixels.graph.Find(name)] =
        Layout::BlockedLast(instance, 1, 16);
  Checked(over_pixels, "cpu_x86_64_v4");
}

// Their accumulators would take one term after the other: 400 of an image, 300
// channels of each pixel.
TEST(RowScheduleTest, LongSumsOfNeighbouringRowsAreTakenInBlocks) {
  Workload pixels = MakeRows(RowFamily::kInstanceNorm, 32, 20);
  const TensorId x = *pixels.graph.Find("X");
  const std::vector<int64_t> shape = pixels.graph.tensor(x).static_shape();
  for (const char* name : {"X", "Y"})
    pixels.layouts[*pixels.graph.Find(name)] =
        Layout::BlockedLast(shape, 1, 16);
  EXPECT_THAT(Checked(pixels, "cpu_x86_64_v4"), HasSubstr("rfactor"));
  for (const int64_t channels : {160, 161, 300, 331}) {
    const std::string text = Checked(
        MakeRows(RowFamily::kChannelNorm, 70, channels), "cpu_x86_64_v4");
    const bool blocks = channels > 160;
    // Each of the two sums is cut into chains, and before that into blocks.
    EXPECT_EQ(Count(text, "rfactor"), blocks ? 4 : 2) << channels;
  }
}

// The sums of a block, as those of all, are of all rows done together.
TEST(RowScheduleTest, BlocksOfTermsKeepNeighbouringRowsTogether) {
  const Workload workload = MakeRows(RowFamily::kChannelNorm, 70, 300);
  const std::optional<Schedule> schedule =
      RowSchedule(workload, *LoadSpec("cpu_x86_64_v4"));
  ASSERT_TRUE(schedule.has_value());
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, *schedule));
  EXPECT_THAT(tree.ToString(),
              HasSubstr("Q.rf: f32 registers (1, 1, 1, 64, 1)"));
}

// What is kept of neighbouring rows is written as it is computed, a vector of
// rows at a time.
TEST(RowScheduleTest, WhatIsKeptOfNeighbouringRowsLiesSideBySide) {
  Workload workload = MakeRows(RowFamily::kSoftmax, 32, 100);
  for (const char* name : {"X", "Y"})
    workload.layouts[*workload.graph.Find(name)] =
        Layout::BlockedLast({2, 32, 100}, 1, 16);
  EXPECT_THAT(Checked(workload, "cpu_x86_64_v4"),
              HasSubstr("set_layout \"E order 0,2,1\""));
}

// So is a row that is not the last dimension: the channels of a pixel.
TEST(RowScheduleTest, WhatIsKeptOfRowsOfAnotherDimensionLiesAlongThem) {
  TW_ASSERT_OK_AND_ASSIGN(Workload workload, ParseWorkload(R"(
    X: f32[2, 400, 20] = placeholder
    E: f32[2, 400, 20] = compute (n: 2, c: 400, w: 20) { erf(X[n, c, w]) }
    M: f32[2, 1, 20] = compute (n: 2, o: 1, w: 20) reduce (c: 400) max:f32 { E[n, c, w] }
    Y: f32[2, 400, 20] = compute (n: 2, c: 400, w: 20) { E[n, c, w] * M[n, 0, w] }
    return Y
)"));
  EXPECT_THAT(Checked(workload, "cpu_x86_64_v4"), Not(HasSubstr("set_layout")));
  for (const char* name : {"X", "Y"})
    workload.layouts[*workload.graph.Find(name)] =
        Layout::BlockedLast({2, 400, 20}, 1, 400);
  EXPECT_THAT(Checked(workload, "cpu_x86_64_v4"),
              HasSubstr("set_layout \"E order 0,2,1\""));
}

// The first reduction reads what is kept; what that is made of tells which
// elements are neighbours.
TEST(RowScheduleTest, VectorsFollowWhatKeptValuesAreMadeOf) {
  TW_ASSERT_OK_AND_ASSIGN(Workload workload, ParseWorkload(R"(
    X: f32[2, 32, 20] = placeholder
    E: f32[2, 32, 20] = compute (n: 2, c: 32, w: 20) { erf(X[n, c, w]) }
    M: f32[2, 32, 1] = compute (n: 2, c: 32, o: 1) reduce (w: 20) sum:f32 { E[n, c, w] }
    Y: f32[2, 32, 20] = compute (n: 2, c: 32, w: 20) { E[n, c, w] * M[n, c, 0] }
    return Y
)"));
  EXPECT_THAT(Checked(workload, "cpu_x86_64_v4"), Not(HasSubstr("set_layout")));
  for (const char* name : {"X", "Y"})
    workload.layouts[*workload.graph.Find(name)] =
        Layout::BlockedLast({2, 32, 20}, 1, 16);
  EXPECT_THAT(Checked(workload, "cpu_x86_64_v4"),
              HasSubstr("set_layout \"E order 0,2,1\""));
}

// A norm of groups of one channel, where channels lie side by side: the sum of
// a block has the axis of one term, the sum of all blocks does not.
TEST(RowScheduleTest, BlocksOfTermsWithAnAxisOfOneTerm) {
  TW_ASSERT_OK_AND_ASSIGN(Workload workload, ParseWorkload(R"(
    X: f32[1, 32, 1, 400] = placeholder
    S: f32[1, 32, 1, 1] = compute (n: 1, g: 32, o: 1, p: 1) reduce (c: 1, w: 400) sum:f32 { X[n, g, c, w] }
    Q: f32[1, 32, 1, 1] = compute (n: 1, g: 32, o: 1, p: 1) reduce (c: 1, w: 400) sum:f32 { (X[n, g, c, w] - S[n, g, c, 0]) * (X[n, g, c, w] - S[n, g, c, 0]) }
    Y: f32[1, 32, 1, 400] = compute (n: 1, g: 32, c: 1, w: 400) { X[n, g, c, w] * Q[n, g, c, 0] }
    return Y
)"));
  Checked(workload, "cpu_x86_64_v4");
  for (const char* name : {"X", "Y"})
    workload.layouts[*workload.graph.Find(name)] =
        Layout::BlockedLast({1, 32, 1, 400}, 1, 16);
  EXPECT_THAT(Checked(workload, "cpu_x86_64_v4"), HasSubstr("rfactor"));
}

// An addition takes several cycles: sums of four vectors at once would wait for
// those before, eight do not.
TEST(RowScheduleTest, SumsOfNeighbouringRowsAreEightChains) {
  const auto text = [](int64_t rows) {
    return Checked(MakeRows(RowFamily::kChannelNorm, rows, 64),
                   "cpu_x86_64_v4");
  };
  EXPECT_EQ(Count(text(64), " by [32, 2]"), 2);
  EXPECT_EQ(Count(text(32), " by [16, 4]"), 2);
}

TEST(RowScheduleTest, WhatIsDearIsKeptAndTheRestComputedAnew) {
  const std::string text =
      Checked(MakeRows(RowFamily::kSoftmax, 4, 200), "cpu_x86_64_v4");
  EXPECT_THAT(text, HasSubstr("\"scratch\""));  // E
  EXPECT_THAT(text, HasSubstr("compute_inline"));
  EXPECT_THAT(Checked(MakeRows(RowFamily::kSoftmax, 4, 49), "cpu_x86_64_v4"),
              Not(HasSubstr("scratch")));
  EXPECT_THAT(Checked(MakeRows(RowFamily::kLayerNorm, 4, 200), "cpu_x86_64_v4"),
              Not(HasSubstr("scratch")));
}

std::string RowsTogether(RowFamily family, int64_t rows, int64_t elements) {
  const Workload workload = MakeRows(family, rows, elements);
  const absl::StatusOr<Schedule> schedule = GeneratePreferred(
      Generators(workload).front(), workload, *LoadSpec("cpu_x86_64_v4"));
  return schedule.ok() ? AnswersOf(*schedule)["rows.together"]
                       : schedule.status().ToString();
}

TEST(RowScheduleTest, LanesOfSeveralRowsAreJoinedWhereTheyStayInACache) {
  EXPECT_EQ(RowsTogether(RowFamily::kSoftmax, 4096, 128), "rows 4");
  EXPECT_EQ(RowsTogether(RowFamily::kLayerNorm, 1024, 768), "rows 4");
  // Seven divide these rows, and stay there, too.
  EXPECT_EQ(RowsTogether(RowFamily::kSoftmax, 4907, 49), "rows 7");
  EXPECT_EQ(RowsTogether(RowFamily::kSoftmax, 1249, 300), "rows 4");
  // The kept exp has as many elements again.
  EXPECT_EQ(RowsTogether(RowFamily::kSoftmax, 4096, 768), "rows 1");
  EXPECT_EQ(RowsTogether(RowFamily::kLayerNorm, 4096, 1536), "rows 1");
  // Too few tasks would be left.
  EXPECT_EQ(RowsTogether(RowFamily::kSoftmax, 16, 128), "rows 1");
  // More than the caches hold: few runs at the same time.
  EXPECT_EQ(RowsTogether(RowFamily::kLayerNorm, 65536, 768), "rows 1");
  EXPECT_EQ(RowsTogether(RowFamily::kSoftmax, 524288, 128), "rows 2");
}

TEST(RowScheduleTest, AnyDecisionsComputeTheSame) {
  DecisionTally tally;
  for (uint64_t seed = 0; seed < 320 && !HasFailure(); ++seed) {
    Workload workload = DrawRows(seed);
    if (seed % 5 == 1) workload = LayerNorm(1 + seed % 7, 2 + seed % 150);
    if (seed % 10 == 2)
      workload = InstanceNorm(1 + seed % 3, 2 + seed % 7, 1 + seed % 37);
    const DeviceSpec spec =
        *LoadSpec(seed % 2 == 0 ? "cpu_x86_64_v4" : "cpu_x86_64_v2");
    CheckDecisions(Generators(workload).front(), workload, spec, seed, tally);
  }
  std::cout << tally.ToString();
  EXPECT_THAT(tally.refusals, IsEmpty());
  EXPECT_THAT(tally.NeverTaken(), IsEmpty());
  EXPECT_EQ(tally.values["passes"].size(), 2u);
}

TEST(RowScheduleTest, ProductsWindowsAndMapsAreOtherFamilies) {
  for (const char* text : {R"(
      A: f32[8, 4] = placeholder
      B: f32[4, 6] = placeholder
      T: f32[8, 6] = compute (m: 8, n: 6) reduce (k: 4) sum:f32 { A[m, k] * B[k, n] }
      return T)",
                           R"(
      X: f32[9] = placeholder
      T: f32[8] = compute (m: 8) reduce (k: 2) max:f32 { X[m + k] }
      return T)",
                           R"(
      X: f32[9] = placeholder
      T: f32[9] = compute (m: 9) { X[m] + X[m] }
      return T)"}) {
    EXPECT_FALSE(RowSchedule(*ParseWorkload(text), *LoadSpec("cpu_x86_64_v4")));
  }
}

}  // namespace
}  // namespace tilewright::sketch
