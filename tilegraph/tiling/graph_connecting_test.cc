#include "tilegraph/tiling/graph_connecting.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text_form.h"
#include "tilegraph/tiling/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

std::vector<TensorId> Computes(const TensorGraph& graph) {
  std::vector<TensorId> members;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
  }
  return members;
}

// The least time over all levels of all edges.
double LeastSeconds(TileGraph& tiles, const DeviceSpec& spec,
                    const TilingOptions& options, int levels) {
  std::vector<TileEdge> edges;
  for (const auto& [edge, level] : tiles.edges()) edges.push_back(edge);
  double least = std::numeric_limits<double>::infinity();
  const int64_t count =
      std::llround(std::pow(levels + 1, static_cast<double>(edges.size())));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (const TileEdge& edge : edges) {
      tiles.SetConnect(edge, static_cast<int>(rest % (levels + 1)));
      rest /= levels + 1;
    }
    const auto parts = tiles.Parts(0);
    if (!parts.ok()) continue;
    double seconds = 0;
    for (const Subgraph& part : *parts) {
      const auto plans = TileSubgraph(tiles, part, spec, options);
      seconds += plans.ok() && (*plans)[0].cost.fits
                     ? CostOf((*plans)[0], spec).seconds
                     : std::numeric_limits<double>::infinity();
    }
    least = std::min(least, seconds);
  }
  for (const TileEdge& edge : edges) tiles.SetConnect(edge, 0);
  return least;
}

TEST(GraphConnectingTest, IsCloseToTheBestOfAllConnections) {
  const DeviceSpec spec = *LoadSpec("unit");
  ConnectOptions options;
  options.tiling.best = 2;
  options.tiling.visits = 60;
  options.tiling.levels = 1;
  options.least_gain = 0;
  const std::vector<TensorGraph> graphs = {
      ConvReluPool(4, 8, 34), MatmulSoftmax(96, 8, 64), *ParseText(R"(
        X: f32[96, 64] = placeholder
        A: f32[96, 64] = compute (i: 96, j: 64) { exp(X[i, j]) }
        B: f32[96, 64] = compute (i: 96, j: 64) { A[i, j] + 1.0 }
        C: f32[96, 64] = compute (i: 96, j: 64) { A[i, j] * B[i, j] }
        return C
      )"),
      // Attention: what begins it is not worth its room.
      *ParseText(R"(
        Q: f32[48, 16] = placeholder
        K: f32[48, 16] = placeholder
        V: f32[48, 16] = placeholder
        T: f32[16, 48] = compute (d: 16, j: 48) { K[j, d] }
        S: f32[48, 48] = compute (i: 48, j: 48) reduce (d: 16) sum:f32 {
          Q[i, d] * T[d, j] }
        E: f32[48, 48] = compute (i: 48, j: 48) { exp(S[i, j]) }
        L: f32[48] = compute (i: 48) reduce (j: 48) sum:f32 { E[i, j] }
        Y: f32[48, 16] = compute (i: 48, c: 16) reduce (j: 48) sum:f32 {
          E[i, j] / L[i] * V[j, c] }
        return Y
      )")};
  for (const TensorGraph& graph : graphs) {
    TileGraph tiles(graph, Computes(graph));
    const double least = LeastSeconds(tiles, spec, options.tiling, 1);
    TW_ASSERT_OK_AND_ASSIGN(const ConnectedPlan plan,
                            ConnectGraph(tiles, spec, options));
    EXPECT_LE(plan.seconds(), 1.05 * least) << PrintText(graph);
  }
}

TEST(GraphConnectingTest, WhatComputesMuchMoreStaysApart) {
  // Each of 512 columns of the second product needs all of the first: tiles of
  // a few rows read both matrices again and again, larger ones fit nowhere.
  const DeviceSpec spec = *LoadSpec("unit");
  const TensorGraph graph = *ParseText(R"(
    X: f32[512, 512] = placeholder
    V: f32[512, 512] = placeholder
    W: f32[512, 512] = placeholder
    A: f32[512, 512] = compute (i: 512, j: 512) reduce (k: 512) sum:f32 {
      X[i, k] * V[k, j] }
    B: f32[512, 512] = compute (i: 512, j: 512) reduce (k: 512) sum:f32 {
      A[i, k] * W[k, j] }
    return B
  )");
  TileGraph tiles(graph, Computes(graph));
  ConnectOptions options;
  options.tiling.best = 2;
  options.tiling.visits = 300;
  TW_ASSERT_OK_AND_ASSIGN(const ConnectedPlan plan,
                          ConnectGraph(tiles, spec, options));
  EXPECT_EQ(plan.parts.size(), 2);
  ASSERT_EQ(plan.decisions.size(), 1);
  EXPECT_EQ(plan.decisions[0].level, 0);
  EXPECT_LT(plan.decisions[0].choices[0].apart_seconds,
            plan.decisions[0].choices[0].seconds);
}

TEST(GraphConnectingTest, MeasuredTimesDecideWhereThereAreSome) {
  const DeviceSpec spec = *LoadSpec("unit");
  const TensorGraph graph = ConvReluPool(4, 8, 34);
  TileGraph tiles(graph, Computes(graph));
  ConnectOptions options;
  options.tiling.best = 2;
  options.tiling.visits = 100;
  // A device on which larger kernels are slower than their parts.
  options.profile = [](const TilePlan& plan) -> absl::StatusOr<double> {
    return static_cast<double>(plan.part.members.size() *
                               plan.part.members.size());
  };
  TW_ASSERT_OK_AND_ASSIGN(const ConnectedPlan plan,
                          ConnectGraph(tiles, spec, options));
  EXPECT_EQ(plan.parts.size(), 3);
  EXPECT_EQ(plan.seconds(), 3);

  options.most_members = 2;
  options.profile = [](const TilePlan&) -> absl::StatusOr<double> { return 1; };
  TW_ASSERT_OK_AND_ASSIGN(const ConnectedPlan pairs,
                          ConnectGraph(tiles, spec, options));
  EXPECT_EQ(pairs.parts.size(), 2);
  EXPECT_THAT(pairs.decisions[1].choices[0].why_not,
              HasSubstr("more than 2 computes"));
}

}  // namespace
}  // namespace tilewright
