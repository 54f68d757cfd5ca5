#include "tilegraph/tiling/connect_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
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
using ::testing::IsEmpty;

class ConnectPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4"));
    force_.weigh.least_gain = -1e9;
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
  // A maximum takes no blocks.
  std::string text = Mlp(4, 8, 1 << 20, 8);
  text.replace(text.rfind("sum:f32"), 7, "max:f32");
  EXPECT_EQ(Connect(Parse(text), force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("more than a core's cache holds"));
}

TEST_F(ConnectPlanTest, OutputsOfTheModelAreWrittenByTheirStage) {
  std::string text = Mlp(4096, 64, 64, 64);
  text.replace(text.find("return Y"), 8, "return Y, R");
  const TensorGraph graph = Parse(text);
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("R"));
  EXPECT_THAT(Names(graph, OutputsOf(plan.groups[0])), ElementsAre("R", "Y"));
  // Whole rows: nothing of R may be written twice.
  EXPECT_EQ(plan.groups[0].tile[1], 64);
}

// What would read T of a tile of columns is all of its rows.
TEST_F(ConnectPlanTest, TilesOfSideOutputsDoNotOverlap) {
  std::string text = Mlp(4, 64, 1 << 18, 64);
  text.replace(text.find("return Y"), 8, "return Y, R");
  EXPECT_EQ(Connect(Parse(text), force_).groups.size(), 2u);
  const GroupCost& joined = connected_.decisions[0].joined;
  EXPECT_TRUE(joined.covers);
  EXPECT_FALSE(joined.fits);
}

TEST_F(ConnectPlanTest, OneReaderIsJoinedAndOthersReadInMemory) {
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
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].members), ElementsAre("T", "Y"));
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("T"));
  EXPECT_THAT(Names(graph, plan.groups[1].inputs), ElementsAre("B", "T"));
}

// The sum is read by a norm right away and by another sum at the end.
TEST_F(ConnectPlanTest, ResidualStreamsLeaveTheGroup) {
  const TensorGraph graph = Parse(R"(
    A: f32[256, 64] = placeholder
    R: f32[256, 64] = placeholder
    B: f32[64, 64] = placeholder
    T: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] }
    S: f32[256, 64] = compute (m: 256, n: 64) { T[m, n] + R[m, n] }
    M: f32[256, 1] = compute (m: 256, o: 1) reduce (k: 64) sum:f32 { S[m, k] }
    N: f32[256, 64] = compute (m: 256, n: 64) { S[m, n] - M[m, 0] }
    U: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      N[m, k] * B[k, n] }
    Y: f32[256, 64] = compute (m: 256, n: 64) { U[m, n] + S[m, n] }
    return Y
  )");
  PlanOptions options;
  const Plan apart = MakePlan(graph, options);
  ASSERT_EQ(apart.groups.size(), 3u);
  const Plan plan = WithJoins(graph, apart, {Join{{0, 1}, {16, 64}, "here"}});
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("S"));
  EXPECT_EQ(plan.layouts.at(*graph.Find("S")),
            apart.layouts.at(*graph.Find("S")));
  EXPECT_THAT(ToString(plan, graph), HasSubstr("writes  S"));
  const JoinRules rules(graph, apart);
  TW_ASSERT_OK_AND_ASSIGN(const Group whole, rules.Joined({0, 1, 2}));
  EXPECT_THAT(whole.side_outputs, IsEmpty());
}

// V reads what the group computes, and its result is what the group needs.
TEST_F(ConnectPlanTest, ReadersBeforeTheEndOfTheGroupForbidTheJoin) {
  const TensorGraph graph = Parse(R"(
    A: f32[256, 64] = placeholder
    B: f32[64, 64] = placeholder
    T: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] }
    V: f32[64, 64] = compute (m: 64, n: 64) reduce (k: 256) sum:f32 {
      T[k, m] * T[k, n] }
    Y: f32[256, 64] = compute (m: 256, n: 64) reduce (k: 64) sum:f32 {
      T[m, k] * V[k, n] }
    return Y
  )");
  const Plan plan = MakePlan(graph, {});
  const JoinRules rules(graph, plan);
  EXPECT_THAT(std::string(rules.Joined({0, 2}).status().message()),
              HasSubstr("T is also read by V, which runs before Y"));
}

// R has zeros around it in memory, the stage that pads it has them in scratch.
TEST_F(ConnectPlanTest, PaddingsOfSideOutputsAreStagesToo) {
  std::string text = TwoConvolutions();
  text.replace(text.find("return Y"), 8, "return Y, R");
  const TensorGraph graph = Parse(text);
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("R"));
  EXPECT_EQ(plan.groups[0].stages.size(), 3u);
  // Neighbours in height or width would overlap.
  EXPECT_EQ(plan.groups[0].tile[2], 32);
  EXPECT_EQ(plan.groups[0].tile[3], 32);
}

TEST_F(ConnectPlanTest, PaddingsThatOthersReadForbidTheJoin) {
  std::string text = TwoConvolutions();
  text.replace(text.find("return Y"), 8, R"(
    E: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32)
      reduce (i: 3, j: 3) max:f32 { P[n, o, h + i, w + j] }
    return Y, E)");
  const TensorGraph graph = Parse(text);
  const Plan plan = MakePlan(graph, {});
  const JoinRules rules(graph, plan);
  EXPECT_THAT(std::string(rules.Joined({0, 1}).status().message()),
              HasSubstr("P is read inside and outside"));
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
  force_.weigh.expressible = [](const Group& group, const Plan& plan) {
    EXPECT_EQ(group.stages.size(), 2u);
    EXPECT_TRUE(plan.layouts.count(group.stages[0].members.back()));
    return absl::UnimplementedError("not today");
  };
  EXPECT_EQ(Connect(Parse(Mlp(4096, 64, 64, 64)), force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("no schedule for it: not today"));
}

TEST_F(ConnectPlanTest, PlansAreTheSameInEveryRun) {
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
    }
  }
}

// Every way to cut a chain into parts, against what the search finds.
TEST_F(ConnectPlanTest, IsCloseToTheBestOfAllJoinsOfAChain) {
  constexpr int kGroups = 5;
  for (const int width : {32, 64, 160}) {
    std::string text = absl::Substitute(
        "T0: f32[16384, $0] = placeholder\nB: f32[$0, $0] = placeholder\n",
        width);
    for (int i = 1; i <= kGroups; ++i)
      text += absl::Substitute(
          "T$1: f32[16384, $0] = compute (m: 16384, n: $0) "
          "reduce (k: $0) sum:f32 { T$2[m, k] * B[k, n] }\n",
          width, i, i - 1);
    const TensorGraph graph =
        Parse(text + absl::Substitute("return T$0\n", kGroups));
    PlanOptions plan_options;
    plan_options.connect = PlanOptions::Connect::kTileGraph;
    const Plan plan = MakePlan(graph, plan_options);
    ASSERT_EQ(plan.groups.size(), static_cast<size_t>(kGroups));
    WeighOptions weigh;
    weigh.least_gain = -1e9;
    JoinWeigher weigher(graph, plan, spec_, weigh);
    const auto price = [&](int first, int last) {
      std::vector<PlanPart> parts;
      std::vector<PlanPart*> pointers;
      for (int g = first; g <= last; ++g) parts.push_back(weigher.Alone(g));
      for (PlanPart& part : parts) pointers.push_back(&part);
      if (first == last) return parts[0].cost.core_seconds;
      const JoinDecision decision = weigher.Weigh(pointers);
      return decision.taken ? decision.joined.core_seconds
                            : std::numeric_limits<double>::infinity();
    };
    std::vector<double> least = {0};  // of the first groups, by how many
    for (int end = 1; end <= kGroups; ++end) {
      least.push_back(std::numeric_limits<double>::infinity());
      for (int begin = 0; begin < end; ++begin)
        least[end] = std::min(least[end], least[begin] + price(begin, end - 1));
    }
    ConnectPlanOptions options;
    options.weigh.least_gain = 0;
    Connect(graph, options);
    double found = 0;
    std::set<int> inside;
    for (const Join& join : connected_.joins) {
      found += price(join.groups.front(), join.groups.back());
      inside.insert(join.groups.begin(), join.groups.end());
    }
    for (int g = 0; g < kGroups; ++g) {
      if (!inside.count(g)) found += price(g, g);
    }
    EXPECT_LE(found, 1.05 * least[kGroups]) << width;
  }
}

// Answers what the test says, and remembers what it was asked.
class FakeProfiler : public PlanProfiler {
 public:
  using Answer = std::function<absl::StatusOr<double>(const Group&)>;
  explicit FakeProfiler(Answer answer) : answer_(std::move(answer)) {}

  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan& plan, absl::Span<const Group> variants) override {
    std::vector<absl::StatusOr<double>> result;
    for (const Group& variant : variants) {
      EXPECT_EQ(variant.output, variants[0].output);
      for (size_t s = 0; s + 1 < variant.stages.size(); ++s)
        EXPECT_TRUE(plan.layouts.count(variant.stages[s].members.back()));
      (variant.stages.empty() ? apart : joined).push_back(variant);
      result.push_back(answer_(variant));
    }
    return result;
  }

  absl::Status Verify(const Plan&, const Group& variant) override {
    verified.push_back(variant);
    return verified.size() <= wrong ? absl::InternalError("wrong results")
                                    : absl::OkStatus();
  }

  std::vector<Group> apart, joined, verified;
  size_t wrong = 0;  // of those verified: the first ones

 private:
  Answer answer_;
};

class ProfiledPlanTest : public ConnectPlanTest {
 protected:
  // As Connect, every group apart taking 10 ms.
  Plan ConnectProfiled(const TensorGraph& graph,
                       const FakeProfiler::Answer& joined,
                       const WeighOptions& weigh = {}, size_t wrong = 0) {
    profiler_.emplace([joined](const Group& group) -> absl::StatusOr<double> {
      return group.stages.empty() ? 0.010 : joined(group);
    });
    profiler_->wrong = wrong;
    ConnectPlanOptions options;
    options.weigh = weigh;
    options.weigh.profiler = &*profiler_;
    return Connect(graph, options);
  }

  std::optional<FakeProfiler> profiler_;
};

TEST_F(ProfiledPlanTest, WhatMeasuresFasterIsJoinedInItsFastestTile) {
  const TensorGraph graph = Parse(Mlp(65536, 64, 64, 64));
  // The third one that is asked for.
  const Plan plan = ConnectProfiled(graph, [&](const Group&) {
    return profiler_->joined.size() == 3 ? 0.015 : 0.019;
  });
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(profiler_->apart.size(), 2u);
  ASSERT_EQ(profiler_->joined.size(), 6u);
  EXPECT_EQ(plan.groups[0].tile, profiler_->joined[2].tile);
  ASSERT_EQ(profiler_->verified.size(), 1u);
  EXPECT_EQ(profiler_->verified[0].tile, plan.groups[0].tile);
  EXPECT_THAT(plan.groups[0].why, HasSubstr("15.000 ms"));
  const JoinDecision& decision = connected_.decisions.at(0);
  EXPECT_EQ(decision.profiled.size(), 6u);
  EXPECT_EQ(decision.joined_one_core_seconds, 0.015);
  EXPECT_EQ(decision.apart_one_core_seconds, 0.020);
}

TEST_F(ProfiledPlanTest, WhatMeasuresNoFasterStaysApartWhateverThePrice) {
  const TensorGraph graph = Parse(Mlp(65536, 64, 64, 64));
  EXPECT_EQ(Connect(graph, {}).groups.size(), 1u);
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.0199; }).groups.size(),
      2u);
  EXPECT_THAT(Reasons(), HasSubstr("saves only 1 %"));
  EXPECT_TRUE(profiler_->verified.empty());
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.022; }).groups.size(),
      2u);
  EXPECT_THAT(Reasons(), HasSubstr("takes 10 % longer"));
}

TEST_F(ProfiledPlanTest, WhatThePriceThinksNeutralIsMeasured) {
  const TensorGraph graph = Parse(Mlp(512, 256, 256, 256));
  ASSERT_EQ(Connect(graph, {}).groups.size(), 2u);
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.010; }).groups.size(),
      1u);
}

TEST_F(ProfiledPlanTest, WhatThePriceThinksFarWorseIsNotMeasured) {
  const TensorGraph graph = Parse(Mlp(16, 2048, 2048, 2048));
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.001; }).groups.size(),
      2u);
  EXPECT_TRUE(profiler_->joined.empty());
  EXPECT_TRUE(profiler_->apart.empty());
  EXPECT_THAT(Reasons(), HasSubstr("longer"));
}

TEST_F(ProfiledPlanTest, CandidatesThatFailAreLeftOut) {
  const TensorGraph graph = Parse(Mlp(65536, 64, 64, 64));
  const Plan plan =
      ConnectProfiled(graph, [&](const Group&) -> absl::StatusOr<double> {
        if (profiler_->joined.size() != 2)
          return absl::InternalError("wrong results");
        return 0.012;
      });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].tile, profiler_->joined[1].tile);
  EXPECT_EQ(connected_.decisions.at(0)
                .profiled[0]
                .one_core_seconds.status()
                .message(),
            "wrong results");

  EXPECT_EQ(ConnectProfiled(graph,
                            [](const Group&) -> absl::StatusOr<double> {
                              return absl::InternalError("signal 11");
                            })
                .groups.size(),
            2u);
  EXPECT_THAT(Reasons(), HasSubstr("no kernel for it: signal 11"));
}

TEST_F(ProfiledPlanTest, TheFastestThatIsRightIsTaken) {
  const TensorGraph graph = Parse(Mlp(65536, 64, 64, 64));
  const auto slower_each_time = [&](const Group&) {
    return 0.010 + 0.002 * static_cast<double>(profiler_->joined.size());
  };
  const Plan plan = ConnectProfiled(graph, slower_each_time, {}, /*wrong=*/2);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].tile, profiler_->joined[2].tile);
  EXPECT_EQ(profiler_->verified.size(), 3u);
  EXPECT_EQ(profiler_->joined.size(), 6u);
  // 0.020 and more save nothing.
  EXPECT_EQ(
      ConnectProfiled(graph, slower_each_time, {}, /*wrong=*/4).groups.size(),
      2u);
  EXPECT_THAT(Reasons(), HasSubstr("saves only 0 %"));
  EXPECT_EQ(ConnectProfiled(
                graph, [](const Group&) { return 0.010; }, {}, /*wrong=*/6)
                .groups.size(),
            2u);
  EXPECT_THAT(Reasons(), HasSubstr("no kernel for it: wrong results"));
}

// The product of three, and that of its first two, both save; the first two
// become a part of the whole and are not verified.
TEST_F(ProfiledPlanTest, OnlyWhatIsTakenInTheEndIsVerified) {
  const TensorGraph graph = Parse(R"(
    A: f32[65536, 64] = placeholder
    B: f32[64, 64] = placeholder
    T: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] }
    U: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
      T[m, k] * B[n, k] }
    Y: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
      U[m, k] * B[k, n] }
    return Y
  )");
  const Plan plan = ConnectProfiled(graph, [](const Group&) { return 0.012; });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].stages.size(), 3u);
  EXPECT_EQ(profiler_->verified.size(), 1u);
}

TEST_F(ProfiledPlanTest, WhatHasNoScheduleIsNotMeasured) {
  WeighOptions weigh;
  int asked = 0;
  weigh.expressible = [&](const Group&, const Plan&) {
    return ++asked == 1 ? absl::UnimplementedError("not today")
                        : absl::OkStatus();
  };
  const Plan plan = ConnectProfiled(
      Parse(Mlp(65536, 64, 64, 64)), [](const Group&) { return 0.010; }, weigh);
  EXPECT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(profiler_->joined.size(), 5u);
}

TEST_F(ProfiledPlanTest, APartWithoutATimeIsNotJoined) {
  FakeProfiler profiler([](const Group& group) -> absl::StatusOr<double> {
    if (group.stages.empty()) return absl::UnavailableError("no workers");
    return 0.001;
  });
  ConnectPlanOptions options;
  options.weigh.profiler = &profiler;
  EXPECT_EQ(Connect(Parse(Mlp(65536, 64, 64, 64)), options).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("R apart: no workers"));
}

// Two equal chains.
constexpr char kTwice[] = R"(
  A: f32[65536, 64] = placeholder
  B: f32[64, 64] = placeholder
  C: f32[65536, 64] = placeholder
  T: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    A[m, k] * B[k, n] }
  Y: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    T[m, k] * B[k, n] }
  U: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    C[m, k] * B[k, n] }
  Z: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    U[m, k] * B[k, n] }
  return Y, Z
)";

TEST_F(ProfiledPlanTest, EqualGroupsAreMeasuredOnce) {
  const Plan plan =
      ConnectProfiled(Parse(kTwice), [](const Group&) { return 0.015; });
  EXPECT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(profiler_->joined.size(), 6u);
  // All four are one kernel.
  EXPECT_LE(profiler_->apart.size(), 2u);
}

TEST_F(ProfiledPlanTest, WhatComesAfterTheLastMeasurementStaysApart) {
  WeighOptions weigh;
  weigh.most_profiled = 4;
  const Plan plan = ConnectProfiled(
      Parse(Mlp(65536, 64, 64, 64)), [](const Group&) { return 0.015; }, weigh);
  EXPECT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(profiler_->apart.size() + profiler_->joined.size(), 4u);
  weigh.most_profiled = 1;
  ConnectProfiled(
      Parse(Mlp(65536, 64, 64, 64)), [](const Group&) { return 0.015; }, weigh);
  EXPECT_THAT(Reasons(), HasSubstr("not profiled: 1 other"));
}

}  // namespace
}  // namespace tilewright
