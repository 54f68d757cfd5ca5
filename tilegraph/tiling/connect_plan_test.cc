#include "tilegraph/tiling/connect_plan.h"

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConnectPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4"));
    force_.least_gain = -1e9;
  }

  static TensorGraph Parse(const std::string& text) {
    absl::StatusOr<TensorGraph> graph = ParseText(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *std::move(graph) : TensorGraph();
  }

  // Plans `graph`, remembers what was weighed.
  Plan Connect(const TensorGraph& graph, const ConnectPlanOptions& options) {
    PlanOptions plan_options;
    plan_options.connect = PlanOptions::Connect::kTileGraph;
    const Plan plan = MakePlan(graph, plan_options);
    connected_ = ConnectPlan(graph, plan, spec_, options);
    return JoinedPlan(graph, plan, connected_);
  }

  static std::vector<std::string> Names(const TensorGraph& graph,
                                        const std::vector<TensorId>& ids) {
    std::vector<std::string> names;
    for (const TensorId id : ids) names.push_back(graph.tensor(id).name);
    return names;
  }

  // The reasons why nothing was joined, one line each.
  std::string Reasons() const {
    std::string reasons;
    for (const JoinDecision& decision : connected_.decisions) {
      if (!decision.taken) reasons += decision.why + "\n";
    }
    return reasons;
  }

  DeviceSpec spec_;
  ConnectPlanOptions force_;  // joins whatever can be
  ConnectedGroups connected_;
};

// Two products with an activation between them.
std::string Mlp(int rows, int in, int hidden, int out) {
  return absl::Substitute(R"(
    A: f32[$0, $1] = placeholder
    B: f32[$1, $2] = placeholder
    C: f32[$2, $3] = placeholder
    T: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 {
      A[m, k] * B[k, n] }
    R: f32[$0, $2] = compute (m: $0, n: $2) { max(T[m, n], 0.0) }
    Y: f32[$0, $3] = compute (m: $0, n: $3) reduce (k: $2) sum:f32 {
      R[m, k] * C[k, n] }
    return Y
  )",
                          rows, in, hidden, out);
}

TEST_F(ConnectPlanTest, NarrowProductsAreJoined) {
  const TensorGraph graph = Parse(Mlp(65536, 64, 64, 64));
  const Plan plan = Connect(graph, {});
  ASSERT_EQ(plan.groups.size(), 1u);
  const Group& group = plan.groups[0];
  EXPECT_THAT(Names(graph, group.inputs), ElementsAre("A", "B", "C"));
  ASSERT_EQ(group.stages.size(), 2u);
  EXPECT_THAT(Names(graph, group.stages[0].members), ElementsAre("T", "R"));
  EXPECT_THAT(Names(graph, group.stages[1].members), ElementsAre("Y"));
  // Whole rows of the result: otherwise the first product is computed anew.
  EXPECT_EQ(group.tile[1], 64);
  EXPECT_LT(group.tile[0], 65536);
  ASSERT_EQ(connected_.decisions.size(), 1u);
  EXPECT_TRUE(connected_.decisions[0].taken);
  EXPECT_LE(connected_.decisions[0].joined.scratch_bytes, 1 << 20);
  EXPECT_EQ(connected_.decisions[0].joined.recompute, 1);
}

// Each block of rows would read all weights again (design: planning.md).
TEST_F(ConnectPlanTest, WideProductsOfFewRowsStayApart) {
  const TensorGraph graph = Parse(Mlp(128, 768, 3072, 768));
  const Plan plan = Connect(graph, {});
  EXPECT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("longer"));
  EXPECT_THAT(Reasons(), HasSubstr("KiB more"));
  EXPECT_THAT(plan.groups[0].why, HasSubstr("not joined with Y"));
}

TEST_F(ConnectPlanTest, WhatFitsNoCacheStaysApart) {
  const TensorGraph graph = Parse(Mlp(4, 8, 1 << 20, 8));
  EXPECT_EQ(Connect(graph, force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("more than a core's cache holds"));
}

TEST_F(ConnectPlanTest, OutputsOfTheModelStayInMemory) {
  std::string text = Mlp(4096, 64, 64, 64);
  text.replace(text.find("return Y"), 8, "return Y, R");
  EXPECT_EQ(Connect(Parse(text), force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("an output of the model"));
}

TEST_F(ConnectPlanTest, ReadersThatDoNotMeetAreNotJoined) {
  const TensorGraph graph = Parse(R"(
    A: f32[256, 64] = placeholder
    B: f32[64, 64] = placeholder
    T: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] }
    Y: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      T[m, k] * B[k, n] }
    Z: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      T[m, k] * B[n, k] }
    return Y, Z
  )");
  EXPECT_EQ(Connect(graph, force_).groups.size(), 3u);
  EXPECT_THAT(Reasons(), HasSubstr("an output of the model"));
}

// Both paths from T lead to Y: all of it, or nothing.
TEST_F(ConnectPlanTest, PathsThatMeetAreJoinedTogether) {
  const TensorGraph graph = Parse(R"(
    A: f32[4096, 64] = placeholder
    B: f32[64, 64] = placeholder
    T: f32[4096, 64] = compute (m: 4096, n: 64) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] }
    U: f32[4096, 64] = compute (m: 4096, n: 64) reduce (k: 64) sum:f32 {
      T[m, k] * B[n, k] }
    Y: f32[4096, 64] = compute (m: 4096, n: 64) { U[m, n] + T[m, n] }
    return Y
  )");
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(plan.groups[0].stages.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].stages[1].members),
              ElementsAre("U", "Y"));
}

std::string TwoConvolutions() {
  return R"(
    X: f32[1, 16, 32, 32] = placeholder
    W: f32[16, 16] = placeholder
    V: f32[16, 3, 3] = placeholder
    C: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32)
      reduce (c: 16) sum:f32 { X[n, c, h, w] * W[o, c] } hint conv
    R: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32) {
      max(C[n, o, h, w], 0.0) }
    P: f32[1, 16, 34, 34] = compute (n: 1, o: 16, h: 34, w: 34) {
      select(h - 1 >= 0 && h - 1 < 32 && w - 1 >= 0 && w - 1 < 32,
             R[n, o, h - 1, w - 1], 0.0) }
    D: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32)
      reduce (i: 3, j: 3) sum:f32 { P[n, o, h + i, w + j] * V[o, i, j] }
      hint conv
    Y: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32) {
      tanh(D[n, o, h, w]) }
    return Y
  )";
}

TEST_F(ConnectPlanTest, PaddingsBecomeStages) {
  const TensorGraph graph = Parse(TwoConvolutions());
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  const std::vector<Stage>& stages = plan.groups[0].stages;
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_THAT(Names(graph, stages[0].members), ElementsAre("C", "R"));
  EXPECT_THAT(Names(graph, stages[1].members), ElementsAre("P"));
  EXPECT_THAT(Names(graph, stages[2].members), ElementsAre("D", "Y"));
  EXPECT_TRUE(plan.views.empty());
  // What the halo held is computed: scratch memory has none.
  const Layout& layout = plan.layouts.at(stages[0].members.back());
  EXPECT_THAT(layout.pad_before(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(plan.layouts.at(stages[1].members[0]).shape(),
            (std::vector<int64_t>{1, 16, 34, 34}));
}

TEST_F(ConnectPlanTest, ViewsBelongToTheStageThatReadsThem) {
  const TensorGraph graph = Parse(R"(
    A: f32[4096, 64] = placeholder
    B: f32[64, 64] = placeholder
    T: f32[4096, 64] = compute (m: 4096, n: 64) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] }
    V: f32[4096, 4, 16] = compute (m: 4096, h: 4, d: 16) { T[m, h * 16 + d] }
    Y: f32[4096, 4] = compute (m: 4096, h: 4) reduce (d: 16) sum:f32 {
      V[m, h, d] }
    return Y
  )");
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(plan.groups[0].stages.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].stages[1].members),
              ElementsAre("V", "Y"));
  EXPECT_TRUE(plan.views.empty());
}

TEST_F(ConnectPlanTest, PartsOfConcatenationsStayInMemory) {
  const TensorGraph graph = Parse(R"(
    A: f32[64, 32] = placeholder
    B: f32[32, 32] = placeholder
    T: f32[64, 32] = compute (m: 64, n: 32) reduce (k: 32) sum:f32 {
      A[m, k] * B[k, n] }
    U: f32[64, 32] = compute (m: 64, n: 32) reduce (k: 32) sum:f32 {
      A[m, k] * B[n, k] }
    K: f32[64, 64] = compute (m: 64, n: 64) {
      select(n < 32, T[m, n], U[m, n - 32]) }
    Y: f32[64] = compute (m: 64) reduce (k: 64) sum:f32 { K[m, k] * K[m, k] }
    return Y
  )");
  EXPECT_EQ(Connect(graph, force_).groups.size(), 3u);
  EXPECT_TRUE(connected_.joins.empty());
}

TEST_F(ConnectPlanTest, ScalarsHaveNoTiles) {
  const TensorGraph graph = Parse(R"(
    A: f32[64, 32] = placeholder
    B: f32[32, 32] = placeholder
    T: f32[64, 32] = compute (m: 64, n: 32) reduce (k: 32) sum:f32 {
      A[m, k] * B[k, n] }
    Y: f32[] = compute () reduce (m: 64, n: 32) sum:f32 { T[m, n] }
    return Y
  )");
  EXPECT_EQ(Connect(graph, force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("a scalar has no tiles"));
}

TEST_F(ConnectPlanTest, WhatNoScheduleExpressesStaysApart) {
  force_.expressible = [](const Group& group, const Plan& plan) {
    EXPECT_EQ(group.stages.size(), 2u);
    EXPECT_TRUE(plan.layouts.count(group.stages[0].members.back()));
    return absl::UnimplementedError("not today");
  };
  EXPECT_EQ(Connect(Parse(Mlp(4096, 64, 64, 64)), force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("no schedule for it: not today"));
}

TEST_F(ConnectPlanTest, PlansAreTheSameInEveryRunAndWithAnyCache) {
  MemoryPlanCache cache;
  for (const ConnectSearch search :
       {ConnectSearch::kEdges, ConnectSearch::kGreedy}) {
    for (const std::string& text :
         {Mlp(65536, 64, 64, 64), TwoConvolutions()}) {
      const TensorGraph graph = Parse(text);
      ConnectPlanOptions options = force_;
      options.search = search;
      const std::string first = ToString(Connect(graph, options), graph);
      EXPECT_THAT(first, HasSubstr("stage"));
      EXPECT_EQ(ToString(Connect(graph, options), graph), first);
      options.cache = &cache;
      for (int run = 0; run < 2; ++run)
        EXPECT_EQ(ToString(Connect(graph, options), graph), first);
    }
  }
}

}  // namespace
}  // namespace tilewright
