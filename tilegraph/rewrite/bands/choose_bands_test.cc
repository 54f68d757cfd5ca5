#include "tilegraph/rewrite/bands/choose_bands.h"

#include <algorithm>
#include <vector>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Three maps in a row over 1024 rows of 16.
constexpr char kMaps[] = R"(
X: f32[1024, 16] = placeholder
A: f32[1024, 16] = compute (m: 1024, n: 16) { X[m, n] + 1.0 }
B: f32[1024, 16] = compute (m: 1024, n: 16) { A[m, n] * 2.0 }
C: f32[1024, 16] = compute (m: 1024, n: 16) { max(B[m, n], 0.0) }
return C
)";
constexpr int64_t kTensorBytes = 1024 * 16 * 4;

TEST(ChooseBandsTest, ReadsAsAnExample) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kMaps);
  ASSERT_THAT(graph, IsOk());
  BandOptions options;
  options.cap_bytes = kTensorBytes / 4;
  const absl::StatusOr<BandPlan> plan = ChooseBands(*graph, options);
  ASSERT_THAT(plan, IsOk());
  // One part: X goes in, C comes out; at most two of its tensors at once.
  ASSERT_EQ(plan->parts.size(), 1);
  EXPECT_EQ(plan->moved_bytes, 2 * kTensorBytes);
  const absl::StatusOr<BandedCost> cost = CostOfBands(*graph, plan->parts[0]);
  ASSERT_THAT(cost, IsOk());
  EXPECT_LE(cost->band_bytes, options.cap_bytes);

  options.most_members = 1;
  const absl::StatusOr<BandPlan> alone = ChooseBands(*graph, options);
  ASSERT_THAT(alone, IsOk());
  EXPECT_EQ(alone->parts.size(), 3);
  EXPECT_EQ(alone->moved_bytes, 6 * kTensorBytes);
}

TEST(ChooseBandsTest, EverythingAtOnceWhereItFits) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kMaps);
  ASSERT_THAT(graph, IsOk());
  const absl::StatusOr<BandPlan> plan =
      ChooseBands(*graph, {.cap_bytes = 4 * kTensorBytes});
  ASSERT_THAT(plan, IsOk());
  ASSERT_EQ(plan->parts.size(), 1);
  EXPECT_EQ(plan->parts[0].rows, 1024);
}

TEST(ChooseBandsTest, SaysWhatDoesNotFit) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kMaps);
  ASSERT_THAT(graph, IsOk());
  EXPECT_THAT(ChooseBands(*graph, {.cap_bytes = 32}).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("A")));
}

TEST(ChooseBandsTest, PartsHoldEveryComputeOnceAndFit) {
  int plans = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const TensorGraph graph = BuildGraph(RandomChain(seed, 5, 0.2), seed);
    int64_t largest = 0;
    std::vector<TensorId> computes;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind != TensorKind::kCompute) continue;
      computes.push_back(tensor.id);
      largest = std::max(largest, tensor.num_bytes());
    }
    int64_t before = 0;
    // Never more is moved where more fits.
    for (const int64_t share : {1, 2, 4, 16}) {
      BandOptions options;
      options.cap_bytes = largest * share / 2;
      const absl::StatusOr<BandPlan> plan = ChooseBands(graph, options);
      if (!plan.ok()) continue;
      ++plans;
      std::vector<TensorId> members;
      int64_t moved_bytes = 0;
      for (const BandedPart& part : plan->parts) {
        members.insert(members.end(), part.members.begin(), part.members.end());
        const absl::StatusOr<BandedCost> cost = CostOfBands(graph, part);
        ASSERT_THAT(cost, IsOk());
        EXPECT_LE(cost->band_bytes, options.cap_bytes);
        moved_bytes += cost->moved_bytes;
      }
      EXPECT_EQ(members, computes);
      EXPECT_EQ(plan->moved_bytes, moved_bytes);
      if (before > 0) EXPECT_LE(moved_bytes, before * 1.1);
      before = moved_bytes;
      const absl::StatusOr<RewrittenGraph> bands =
          MakeInBands(graph, plan->parts);
      ASSERT_THAT(bands, IsOk());
      EXPECT_THAT(VerifyGraph(bands->graph), IsOk());
    }
  }
  EXPECT_GT(plans, 100);
}

}  // namespace
}  // namespace tilewright
