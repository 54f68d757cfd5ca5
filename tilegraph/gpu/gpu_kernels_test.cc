#include "tilegraph/gpu/gpu_kernels.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/gpu_cost_model.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Plan PlainPlan(const TensorGraph& graph) {
  PlanOptions options;
  options.channel_block = 0;
  return MakePlan(graph, options);
}

TEST(GpuKernelsTest, EqualGroupsArePlannedOnceUnderTheirOwnNames) {
  const TensorGraph graph = *ParseText(R"(
    X: f32[256, 256] = placeholder
    W: f32[256, 256] = placeholder
    A: f32[256, 256] = compute (m: 256, n: 256) reduce (k: 256) sum:f32 {
      X[m, k] * W[k, n] }
    V: f32[256, 256] = placeholder
    B: f32[256, 256] = compute (m: 256, n: 256) reduce (k: 256) sum:f32 {
      A[m, k] * V[k, n] }
    return A, B)");
  const DeviceSpec spec = *LoadSpec("a100");
  const Plan plan = PlainPlan(graph);
  GpuKernelsOptions unfused;
  unfused.fuse = false;
  TW_ASSERT_OK_AND_ASSIGN(const GpuPlan planned,
                          PlanGpuKernels(graph, plan, spec, unfused));
  ASSERT_EQ(planned.kernels.size(), 2);
  GpuTilePlans plans(graph, plan, spec, unfused.tiling);
  for (const Group& group : plan.groups) EXPECT_TRUE(plans.Of(group).ok());
  EXPECT_EQ(plans.planned(), 1u);
  EXPECT_THAT(planned.kernels[1].tiles[0].part.inputs,
              ElementsAre(*graph.Find("A"), *graph.Find("V")));
  EXPECT_EQ(planned.kernels[1].tiles[0].cost.seconds,
            planned.kernels[0].tiles[0].cost.seconds);
  for (const SharedOperand& operand : planned.kernels[1].tiles[0].shared)
    EXPECT_NE(operand.tensor, *graph.Find("W"));
}

// A tensor that others read too is written beside the output, each element
// once.
TEST(GpuKernelsTest, ResultsThatLeaveAreWrittenByTheFusedKernel) {
  for (const char* device : {"v100", "a100", "mi50", "mi300x"}) {
    const DeviceSpec spec = *LoadSpec(device);
    const TensorGraph product =
        Products(4096, 64, {"A = X W", "B = A V"}, "A, B");
    const Plan plan = PlainPlan(product);
    TW_ASSERT_OK_AND_ASSIGN(const GpuPlan planned,
                            PlanGpuKernels(product, plan, spec, {}));
    ASSERT_EQ(planned.kernels.size(), 1) << device;
    EXPECT_THAT(planned.kernels[0].groups, ElementsAre(0, 1));
    const GpuTilePlan& tiles = planned.kernels[0].tiles[0];
    EXPECT_THAT(tiles.part.outputs,
                ElementsAre(*product.Find("A"), *product.Find("B")));
    EXPECT_TRUE(tiles.remaps[0] && tiles.remaps[0]->partitions);
    EXPECT_THAT(ToString(product, planned), HasSubstr("writes A too"));
    // X comes, A and B go; A does not come back.
    EXPECT_GE(tiles.cost.memory_bytes, 3 * 4096 * 64 * 4);
    EXPECT_LT(tiles.cost.memory_bytes, 3.2 * 4096 * 64 * 4);

    // Nobody would compute the second half of S.
    const TensorGraph half = Products(512, 64, {"S = A B", R"(
    Y: f32[256, 64] = compute (m: 256, n: 64) { max(S[m, n], 0.0) })"},
                                      "S, Y");
    TW_ASSERT_OK_AND_ASSIGN(const GpuPlan halves,
                            PlanGpuKernels(half, PlainPlan(half), spec, {}));
    EXPECT_EQ(halves.kernels.size(), 2);

    // Windows overlap: such tiles of R are never written by two blocks.
    const TensorGraph window = TwoConvolutions("Y, R");
    TW_ASSERT_OK_AND_ASSIGN(
        const GpuPlan windows,
        PlanGpuKernels(window, PlainPlan(window), spec, {}));
    for (const GpuKernel& kernel : windows.kernels) {
      const Subgraph& part = kernel.tiles[0].part;
      for (size_t m = 0; m < part.members.size(); ++m) {
        if (!std::binary_search(part.outputs.begin(), part.outputs.end(),
                                part.members[m]))
          continue;
        ASSERT_TRUE(kernel.tiles[0].remaps[m]) << device;
        EXPECT_TRUE(kernel.tiles[0].remaps[m]->partitions) << device;
      }
    }
  }
}

std::string Attention(int64_t tokens) {
  const std::string n = absl::StrCat(tokens);
  return absl::StrCat(
      "Q: f16[12, ", n, ", 64] = placeholder\nK: f16[12, ", n,
      ", 64] = placeholder\nV: f16[12, ", n, ", 64] = placeholder\nS: f16[12, ",
      n, ", ", n, "] = compute (h: 12, m: ", n, ", n: ", n,
      ") reduce (k: 64) sum:f32 { cast:f32(Q[h, m, k]) * cast:f32(K[h, n, k]) "
      "}\nM: f16[12, ",
      n, "] = compute (h: 12, m: ", n, ") reduce (n: ", n,
      ") max:f32 { cast:f32(S[h, m, n]) }\nE: f16[12, ", n, ", ", n,
      "] = compute (h: 12, m: ", n, ", n: ", n,
      ") { exp(S[h, m, n] - M[h, m]) }\nL: f16[12, ", n,
      "] = compute (h: 12, m: ", n, ") reduce (n: ", n,
      ") sum:f32 { cast:f32(E[h, m, n]) }\nP: f16[12, ", n, ", ", n,
      "] = compute (h: 12, m: ", n, ", n: ", n,
      ") { E[h, m, n] / L[h, m] }\nO: f16[12, ", n,
      ", 64] = compute (h: 12, m: ", n, ", d: 64) reduce (n: ", n,
      ") sum:f32 { cast:f32(P[h, m, n]) * cast:f32(V[h, n, d]) }\nreturn O\n");
}

TEST(GpuKernelsTest, AttentionBecomesOneKernel) {
  for (const char* device : {"v100", "mi300x"}) {
    const DeviceSpec spec = *LoadSpec(device);
    for (const int64_t tokens : {128, 512}) {
      TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph,
                              ParseText(Attention(tokens)));
      const Plan plan = PlainPlan(graph);
      TW_ASSERT_OK_AND_ASSIGN(const GpuPlan fused,
                              PlanGpuKernels(graph, plan, spec, {}));
      EXPECT_EQ(fused.kernels.size(), 1) << device << " " << tokens << "\n"
                                         << ToString(graph, fused);
      GpuKernelsOptions unfused;
      unfused.fuse = false;
      TW_ASSERT_OK_AND_ASSIGN(const GpuPlan alone,
                              PlanGpuKernels(graph, plan, spec, unfused));
      EXPECT_EQ(alone.kernels.size(), plan.groups.size());
      double seconds = 0;
      for (const GpuKernel& kernel : alone.kernels)
        seconds += kernel.tiles[0].cost.seconds;
      EXPECT_DOUBLE_EQ(fused.kernels[0].unfused_seconds(), seconds);
      EXPECT_LT(fused.kernels[0].tiles[0].cost.seconds, seconds);
      // Scores and weights stay inside: 2 * 12 * n * n f16 less each way.
      EXPECT_LT(fused.kernels[0].tiles[0].cost.memory_bytes,
                4.0 * 12 * 64 * static_cast<double>(tokens) * 2 * 2);
    }
  }
}

}  // namespace
}  // namespace tilewright
