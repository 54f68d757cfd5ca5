#include "tilegraph/fuse/local_moves.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/estimate_key.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/move_rules.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kGraphs = 200;

class LocalMovesTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4"));
  }

  Plan RegisterPlan(const std::string& text) {
    auto graph = ParseText(text);
    EXPECT_THAT(graph.status(), IsOk());
    graph_ = *std::move(graph);
    PlanOptions options;
    options.connect = PlanOptions::Connect::kTileGraph;
    return MakePlan(graph_, options);
  }

  MakeCostModel ModelFor() const {
    return [this](const Plan& plan) {
      return std::make_unique<GroupEvaluator>(graph_, plan, spec_);
    };
  }

  Plan Moved(const std::string& text) {
    return MakeLocalMoves(graph_, RegisterPlan(text), ModelFor());
  }

  std::vector<std::string> Groups(const Plan& plan) const {
    std::vector<std::string> groups;
    for (const Group& group : plan.groups) {
      std::string& names = groups.emplace_back();
      for (const TensorId id : group.members)
        absl::StrAppend(&names, names.empty() ? "" : " ",
                        graph_.tensor(id).name);
    }
    return groups;
  }

  // Core seconds of all groups.
  double CostOf(const Plan& plan) {
    const GroupEvaluator model(graph_, plan, spec_);
    double seconds = 0;
    for (const Group& group : plan.groups) {
      const auto [known, is_new] = known_.try_emplace(model.KeyOf(group), 0);
      if (is_new) {
        const auto cost = model.Best(group);
        EXPECT_THAT(cost.status(), IsOk());
        known->second = cost->core_seconds;
      }
      seconds += known->second;
    }
    return seconds;
  }

  // The least cost of all plans that any moves lead to.
  double LeastCost(const Plan& plan, std::set<std::vector<std::string>>& seen) {
    if (!seen.insert(Groups(plan)).second)
      return std::numeric_limits<double>::infinity();
    double least = CostOf(plan);
    for (const LocalMove& move : FindLocalMoves(graph_, plan))
      least = std::min(least,
                       LeastCost(WithLocalMoves(graph_, plan, {move}), seen));
    return least;
  }

  // Every compute is in one group or a view, groups come in an order in which
  // they can run, and all that lies in memory has a layout.
  void ExpectSound(const Plan& plan) const {
    std::set<TensorId> computed;
    for (const Group& group : plan.groups) {
      for (const TensorId input : group.inputs) {
        EXPECT_TRUE(plan.layouts.count(input) ||
                    graph_.tensor(input).kind == TensorKind::kConstant);
        const auto view = plan.views.find(input);
        const TensorId source = view == plan.views.end() ? input : view->second;
        EXPECT_TRUE(graph_.tensor(source).kind != TensorKind::kCompute ||
                    computed.count(source));
      }
      for (const TensorId member : group.members)
        EXPECT_TRUE(computed.insert(member).second);
      EXPECT_EQ(group.output, group.members.back());
      EXPECT_EQ(plan.layouts.at(group.output).shape(),
                graph_.tensor(group.output).static_shape());
    }
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind == TensorKind::kCompute)
        EXPECT_EQ(computed.count(tensor.id) + plan.views.count(tensor.id), 1u)
            << tensor.name;
    }
  }

  DeviceSpec spec_;
  TensorGraph graph_;
  std::map<EstimateKey, double> known_;  // core seconds
};

constexpr char kProduct[] = R"(
  A: f32[2048, 64] = placeholder
  B: f32[64, 256] = placeholder
  C: f32[2048, 256] = compute (i: 2048, j: 256) reduce (k: 64) sum:f32 {
    A[i, k] * B[k, j] }
)";

// A row of C is half as long as one of W.
TEST_F(LocalMovesTest, ACastIsReadAsWhatItCasts) {
  const std::string text = absl::StrCat(kProduct, R"(
    W: f64[2048, 256] = compute (i: 2048, j: 256) { cast:f64(C[i, j]) }
    S: f64[2048] = compute (i: 2048) reduce (j: 256) sum:f64 { W[i, j] }
    return S
  )");
  EXPECT_THAT(Groups(RegisterPlan(text)), ElementsAre("C W", "S"));
  const Plan plan = Moved(text);
  EXPECT_THAT(Groups(plan), ElementsAre("C", "W S"));
  EXPECT_EQ(plan.layouts.count(1 + plan.groups[0].output), 0u);
  EXPECT_THAT(plan.groups[0].why, Contains(HasSubstr("up to W")));
  EXPECT_THAT(
      plan.groups[1].why,
      Contains(HasSubstr("begins with W that ended another group: saves")));
  ExpectSound(plan);
}

TEST_F(LocalMovesTest, ACastToLessStaysWithWhatItCasts) {
  const std::string text = absl::StrCat(kProduct, R"(
    W: bf16[2048, 256] = compute (i: 2048, j: 256) { cast:bf16(C[i, j]) }
    S: f32[2048] = compute (i: 2048) reduce (j: 256) sum:f32 {
      cast:f32(W[i, j]) }
    return S
  )");
  EXPECT_THAT(Groups(Moved(text)), ElementsAre("C W", "S"));
}

// The product would evaluate R again for every vector of columns.
TEST_F(LocalMovesTest, ProductsReadWhatLiesInMemory) {
  const std::string text = R"(
    A: f32[2048, 64] = placeholder
    B: f32[64, 256] = placeholder
    R: f32[2048, 64] = compute (i: 2048, j: 64) { max(A[i, j], 0.0) }
    C: f32[2048, 256] = compute (i: 2048, j: 256) reduce (k: 64) sum:f32 {
      R[i, k] * B[k, j] }
    return C
  )";
  RegisterPlan(text);
  EXPECT_THAT(Groups(Moved(text)), ElementsAre("R", "C"));
}

TEST_F(LocalMovesTest, MapsOfOneReaderAreWrittenIntoIt) {
  const std::string text = R"(
    A: f32[4096, 512] = placeholder
    R: f32[4096, 512] = compute (i: 4096, j: 512) { max(A[i, j], 0.0) }
    Y: f32[2048, 512] = compute (i: 2048, j: 512) { R[2 * i, j] * 2.0 }
    return Y
  )";
  EXPECT_THAT(Groups(RegisterPlan(text)), ElementsAre("R", "Y"));
  EXPECT_THAT(Groups(Moved(text)), ElementsAre("R Y"));
}

// Twice each element of R.
TEST_F(LocalMovesTest, NothingIsEvaluatedTwice) {
  const std::string text = R"(
    A: f32[2048, 512] = placeholder
    R: f32[2048, 512] = compute (i: 2048, j: 512) { exp(A[i, j]) }
    Y: f32[4096, 512] = compute (i: 4096, j: 512) { R[i floordiv 2, j] * 2.0 }
    return Y
  )";
  const Plan plan = RegisterPlan(text);
  EXPECT_THAT(Groups(plan), ElementsAre("R", "Y"));
  EXPECT_THAT(FindLocalMoves(graph_, plan), IsEmpty());
}

TEST_F(LocalMovesTest, ResultsThatOthersReadStay) {
  for (const char* outputs : {"S, W", "S, T"}) {
    const std::string text = absl::StrCat(kProduct, R"(
      W: f64[2048, 256] = compute (i: 2048, j: 256) { cast:f64(C[i, j]) }
      S: f64[2048] = compute (i: 2048) reduce (j: 256) sum:f64 { W[i, j] }
      T: f64[256] = compute (j: 256) reduce (i: 2048) sum:f64 { W[i, j] }
      return )",
                                          outputs, "\n");
    const Plan plan = RegisterPlan(text);
    EXPECT_THAT(FindLocalMoves(graph_, plan, /*smaller=*/true), IsEmpty());
  }
}

TEST_F(LocalMovesTest, WhatWouldNotPaySaysSo) {
  LocalMoveOptions options;
  options.least_gain = 0.9;
  const std::string text = R"(
    A: f32[4096, 512] = placeholder
    R: f32[4096, 512] = compute (i: 4096, j: 512) { max(A[i, j], 0.0) }
    Y: f32[2048, 512] = compute (i: 2048, j: 512) { R[2 * i, j] * 2.0 }
    return Y
  )";
  const Plan plan =
      MakeLocalMoves(graph_, RegisterPlan(text), ModelFor(), options);
  EXPECT_THAT(Groups(plan), ElementsAre("R", "Y"));
  EXPECT_THAT(plan.groups[0].why,
              Contains(HasSubstr("R stays here: would save only ")));
  EXPECT_THAT(plan.groups[0].why, Not(Contains(HasSubstr("begins"))));
}

// Chains and trees of products, sums of rows, casts, and maps that transpose,
// repeat or skip rows.
std::string DrawText(uint64_t seed) {
  Random random(seed);
  struct Matrix {
    std::string name, dtype;
    int64_t rows, columns;
  };
  const auto size = [&] { return int64_t{16} << random.UniformInt(0, 5); };
  std::vector<Matrix> known = {{"A", "f32", size(), size()}};
  std::string text = absl::StrCat("A: f32[", known[0].rows, ", ",
                                  known[0].columns, "] = placeholder\n");
  const int computes = static_cast<int>(random.UniformInt(3, 6));
  std::set<std::string> unread;
  for (int c = 0; c < computes; ++c) {
    const Matrix from =
        known[known.size() - 1 -
              random.UniformInt(0, std::min<int64_t>(known.size() - 1, 1))];
    Matrix to = {absl::StrCat("T", c), from.dtype, from.rows, from.columns};
    const std::string at = absl::StrCat(from.name, "[i, j]");
    std::string body, reduce;
    switch (random.UniformInt(0, 7)) {
      case 0: {
        to.columns = size();
        absl::StrAppend(&text, "B", c, ": ", to.dtype, "[", from.columns, ", ",
                        to.columns, "] = placeholder\n");
        reduce = absl::StrCat(" reduce (k: ", from.columns, ") sum:", to.dtype);
        body = absl::StrCat(from.name, "[i, k] * B", c, "[k, j]");
        break;
      }
      case 1:
        to.columns = 1;
        reduce = absl::StrCat(" reduce (k: ", from.columns, ") sum:", to.dtype);
        body = absl::StrCat(from.name, "[i, k]");
        break;
      case 2:
        to.dtype = from.dtype == "f32" ? "f64" : "f32";
        body = absl::StrCat("cast:", to.dtype, "(", at, ")");
        break;
      case 3:
        std::swap(to.rows, to.columns);
        body = absl::StrCat("exp(", from.name, "[j, i])");
        break;
      case 4:
        to.rows = std::max<int64_t>(1, from.rows / 2);
        body = absl::StrCat("exp(", from.name, "[2 * i, j])");
        break;
      case 5:
        to.columns = size();
        body = absl::StrCat("exp(", from.name, "[i, j floormod ", from.columns,
                            "])");
        break;
      default:
        body = absl::StrCat("abs(", at, ")");
    }
    absl::StrAppend(&text, to.name, ": ", to.dtype, "[", to.rows, ", ",
                    to.columns, "] = compute (i: ", to.rows,
                    ", j: ", to.columns, ")", reduce, " { ", body, " }\n");
    unread.erase(from.name);
    unread.insert(to.name);
    known.push_back(to);
  }
  std::string outputs;
  for (const std::string& name : unread)
    absl::StrAppend(&outputs, outputs.empty() ? "" : ", ", name);
  return absl::StrCat(text, "return ", outputs, "\n");
}

TEST_F(LocalMovesTest, PlansAreCloseToTheBestThatMovesLeadTo) {
  LocalMoveOptions options;
  options.least_gain = 0;
  int close = 0, moved = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const std::string text = DrawText(seed);
    const Plan before = RegisterPlan(text);
    const Plan after = MakeLocalMoves(graph_, before, ModelFor(), options);
    ExpectSound(after);
    const double found = CostOf(after), all_apart = CostOf(before);
    EXPECT_LE(found, all_apart) << text;
    std::set<std::vector<std::string>> seen;
    const double least = LeastCost(before, seen);
    EXPECT_GE(found, least * (1 - 1e-9)) << text;
    close += found <= 1.05 * least;
    moved += least < 0.97 * all_apart;
    if (found > 1.05 * least)
      std::printf("seed %d: %.0f ns found, %.0f ns is the least\n",
                  static_cast<int>(seed), found * 1e9, least * 1e9);
  }
  std::printf("%d of %d within 5 %%; moves save 3 %% of %d\n", close, kGraphs,
              moved);
  EXPECT_GE(close, kGraphs * 95 / 100);
  EXPECT_GE(moved, kGraphs * 20 / 100);
}

}  // namespace
}  // namespace tilewright
