#include "tilegraph/cost/reuse_distance.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/check.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kRow = 64 * 4;  // bytes of f32[64]

// One group for each compute, in their order.
class ReuseDistancesTest : public testing::Test {
 protected:
  void Build(const std::string& text) {
    auto graph = ParseText(text);
    TW_CHECK(graph.ok());
    graph_ = *std::move(graph);
    plan_ = MakePlan(graph_, {PlanOptions::Connect::kNone, 0});
  }
  TensorId Id(const std::string& name) const { return *graph_.Find(name); }
  // The plan's group that writes it.
  const Group& Of(const std::string& name) const {
    for (const Group& group : plan_.groups) {
      if (group.output == Id(name)) return group;
    }
    TW_CHECK(false) << name;
    return plan_.groups[0];
  }
  double Before(const std::string& id, const std::string& group,
                double most_bytes = kNoLimit) const {
    return ReuseDistances(graph_, plan_, most_bytes)
        .Before(Id(id), Of(group))
        .bytes;
  }
  double After(const std::string& id, const std::string& group) const {
    return ReuseDistances(graph_, plan_, kNoLimit)
        .After(Id(id), Of(group))
        .bytes;
  }

  TensorGraph graph_;
  Plan plan_;
};

constexpr char kChain[] = R"(
  X: f32[64] = placeholder
  A: f32[64] = compute (i: 64) { X[i] + 1.0 }
  B: f32[64] = compute (i: 64) { A[i] * 2.0 }
  C: f32[64] = compute (i: 64) { B[i] - A[i] }
  return C
)";

TEST_F(ReuseDistancesTest, NeighboursMeetHalfOfEachOther) {
  Build(kChain);
  // A itself, half of X and half of B.
  EXPECT_EQ(Before("A", "B"), 2 * kRow);
  EXPECT_EQ(After("A", "A"), 2 * kRow);
  // A is read again, B's other reader is C: half of A, which both touch, on
  // either side, and half of C.
  EXPECT_EQ(After("B", "B"), 2.5 * kRow);
}

TEST_F(ReuseDistancesTest, WhatLiesBetweenCountsOnce) {
  Build(R"(
    X: f32[64] = placeholder
    A: f32[64] = compute (i: 64) { X[i] + 1.0 }
    B: f32[64] = compute (i: 64) { A[i] * 2.0 }
    C: f32[64] = compute (i: 64) { B[i] * 2.0 }
    D: f32[64] = compute (i: 64) { C[i] * 2.0 }
    E: f32[64] = compute (i: 64) { D[i] + X[i] }
    return E
  )");
  // From A to E: X, half of A, half of D and E, and between them B and C.
  EXPECT_EQ(Before("X", "E"), kRow * (1 + 0.5 + 1 + 2));
  EXPECT_EQ(After("X", "A"), Before("X", "E"));
}

TEST_F(ReuseDistancesTest, FirstUseFollowsTheLastOfTheRunBefore) {
  Build(kChain);
  // X is read once in a run: all four tensors lie between.
  EXPECT_EQ(Before("X", "A"), 4 * kRow);
  // From C to the next run's A: A, half of B and C, half of X.
  EXPECT_EQ(Before("A", "A"), kRow * (1 + 1 + 0.5));
  EXPECT_EQ(After("C", "C"), 4 * kRow);
}

TEST_F(ReuseDistancesTest, TimePassesInGroupsAsBytesDo) {
  Build(kChain);
  ReuseDistances distances(graph_, plan_, kNoLimit);
  EXPECT_EQ(distances.Before(Id("A"), Of("B")).seconds, 0);
  distances.SetGroupSeconds({1, 4, 16});  // A, B, C
  EXPECT_EQ(distances.Before(Id("A"), Of("B")).seconds, 0.5 + 2);
  EXPECT_EQ(distances.After(Id("A"), Of("A")).seconds, 0.5 + 2);
  EXPECT_EQ(distances.Before(Id("X"), Of("A")).seconds, 1 + 4 + 16);
  // From C to the next run's A.
  EXPECT_EQ(distances.Before(Id("A"), Of("A")).seconds, 8 + 0.5);
}

TEST_F(ReuseDistancesTest, LongOnesAreInfinite) {
  Build(kChain);
  EXPECT_EQ(Before("X", "A", 4 * kRow), 4 * kRow);
  EXPECT_TRUE(std::isinf(Before("X", "A", 4 * kRow - 1)));
}

TEST_F(ReuseDistancesTest, GathersTouchTheRowsThatTheyRead) {
  Build(R"(
    Table: f32[1000, 64] = placeholder
    I: i64[2] = placeholder
    A: f32[2, 64] = compute (i: 2, j: 64) { Table[I[i], j] }
    B: f32[2, 64] = compute (i: 2, j: 64) { A[i, j] + A[i, j] }
    return B
  )");
  // A, half of the indices and of two rows of the table, and half of B.
  EXPECT_EQ(Before("A", "B"), 2 * kRow + (2 * 8 + 2 * kRow) / 2 + kRow);
}

TEST_F(ReuseDistancesTest, MergedGroupsCountAsTheirParts) {
  Build(kChain);
  Group merged;
  merged.members = {Id("A"), Id("B")};
  merged.inputs = {Id("X")};
  merged.output = Id("B");
  merged.side_outputs = {Id("A")};
  const ReuseDistances distances(graph_, plan_, kNoLimit);
  EXPECT_EQ(distances.Before(Id("X"), merged).bytes, Before("X", "A"));
  EXPECT_EQ(distances.After(Id("A"), merged).bytes, After("A", "B"));
  EXPECT_EQ(distances.After(Id("B"), merged).bytes, After("B", "B"));
}

TEST_F(ReuseDistancesTest, ViewsAreUsesOfTheirMemory) {
  Build(R"(
    X: f32[8, 8] = placeholder
    A: f32[8, 8] = compute (i: 8, j: 8) { X[i, j] + 1.0 }
    V: f32[64] = compute (k: 64) { A[k floordiv 8, k floormod 8] }
    B: f32[64] = compute (k: 64) { V[k] * 2.0 }
    return B
  )");
  ASSERT_EQ(plan_.views.count(Id("V")), 1u);
  EXPECT_EQ(Before("V", "B"), 2 * kRow);
  EXPECT_EQ(After("A", "A"), 2 * kRow);
}

}  // namespace
}  // namespace tilewright
