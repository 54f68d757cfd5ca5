#include "sketch/fused/stage_workload.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/trace/workload.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

// A padded 1x1 convolution and one of 3x3 over its result, padded too; X itself
// has a halo of zeros along both.
constexpr char kChain[] = R"(
X: f32[4, 8, 10] = placeholder
V: f32[4, 4] = placeholder
W: f32[4, 4, 3, 3] = placeholder
A: f32[4, 8, 10] = compute (o: 4, h: 8, w: 10) reduce (c: 4) sum:f32 { X[c, h, w] * V[o, c] }
P: f32[4, 10, 12] = compute (o: 4, h: 10, w: 12) { select(h >= 1 && h < 9 && (w >= 1 && w < 11), A[o, h - 1, w - 1], 0.0) }
Y: f32[4, 8, 10] = compute (o: 4, h: 8, w: 10) reduce (c: 4, i: 3, j: 3) sum:f32 { P[c, h + i, w + j] * W[o, c, i, j] }
return Y
#zeros X (0,1,1|0,1,2)
)";

// The `#zeros` lines of a stage if its output is a box of these extents.
std::string Zeros(size_t stage, const std::vector<int64_t>& box) {
  const absl::StatusOr<Workload> workload = ParseWorkload(kChain);
  EXPECT_THAT(workload.status(), IsOk());
  const TensorGraph& graph = workload->graph;
  const TensorId a = *graph.Find("A"), p = *graph.Find("P"),
                 y = *graph.Find("Y");
  StagePlan plan;
  plan.zeros = FindKnownZeros(graph, workload->zeros);
  plan.stages.push_back(
      {{a, p}, Layout::RowMajor(graph.tensor(p).static_shape())});
  plan.stages.push_back(
      {{y}, Layout::RowMajor(graph.tensor(y).static_shape())});
  const absl::StatusOr<Workload> part =
      StageWorkload(*workload, plan, stage, Layout::RowMajor(box));
  EXPECT_THAT(part.status(), IsOk());
  const std::string text = part->Text();
  const size_t begin = text.find("#zeros");
  return begin == std::string::npos ? "" : text.substr(begin);
}

TEST(StageWorkloadTest, AWholeStageKnowsTheZerosOfWhatItReads) {
  EXPECT_EQ(Zeros(0, {4, 10, 12}), "#zeros X (0,1,1|0,1,2)\n");
  // The zeros that the stage before it pads with.
  EXPECT_EQ(Zeros(1, {4, 8, 10}), "#zeros P (0,1,1|0,1,1)\n");
}

// Where a box is cut, its first element is not the tensor's first.
TEST(StageWorkloadTest, ABoxKnowsOnlyWhatHoldsWhereverItLies) {
  EXPECT_EQ(Zeros(1, {4, 2, 10}), "#zeros P (0,0,1|0,0,1)\n");
  EXPECT_EQ(Zeros(1, {4, 2, 5}), "");
  // Channels are all read by every channel of the result.
  EXPECT_EQ(Zeros(1, {2, 8, 10}), "#zeros P (0,1,1|0,1,1)\n");
  // Through a member: A moves with the rows of P.
  EXPECT_EQ(Zeros(0, {4, 3, 12}), "#zeros X (0,0,1|0,0,2)\n");
  EXPECT_EQ(Zeros(0, {4, 9, 12}), "#zeros X (0,0,1|0,0,2)\n");
}

}  // namespace
}  // namespace tilewright::sketch
