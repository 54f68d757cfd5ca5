#include "tools/plan/repeats.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Layers of three: the first reads what leaves the layer before, the third the
// second and, past it, what the first reads.
std::vector<PlanStep> Layers(int layers) {
  std::vector<PlanStep> steps = {{0, {}}};
  for (int layer = 0; layer < layers; ++layer) {
    const int before = 3 * layer;
    steps.push_back({1, {before}});
    steps.push_back({2, {before + 1}});
    steps.push_back({3, {before, before + 2}});
  }
  return steps;
}

TEST(RepeatsTest, EqualLayersAreOneRepeat) {
  EXPECT_THAT(FindRepeats(Layers(4)), ElementsAre(Repeat{1, 4, 4}));
}

TEST(RepeatsTest, NothingRepeatsInASequenceOfKinds) {
  EXPECT_THAT(FindRepeats({{0, {}}, {1, {0}}, {2, {1}}}), IsEmpty());
  EXPECT_THAT(FindRepeats({}), IsEmpty());
}

TEST(RepeatsTest, WhatReadsOtherwiseIsNoRepeat) {
  std::vector<PlanStep> steps = Layers(3);
  steps[9].sources = {3, 8};  // past two layers rather than one
  EXPECT_THAT(FindRepeats(steps), ElementsAre(Repeat{1, 4, 2}));
}

// A mask that every layer reads stays where it is.
TEST(RepeatsTest, WhatLiesBeforeAllRoundsIsReadByAll) {
  std::vector<PlanStep> steps = {{7, {}}, {0, {}}};
  for (int layer = 0; layer < 3; ++layer) {
    const int before = 1 + 2 * layer;
    steps.push_back({1, {0, before}});
    steps.push_back({2, {before + 1}});
  }
  EXPECT_THAT(FindRepeats(steps), ElementsAre(Repeat{2, 4, 3}));
}

TEST(RepeatsTest, RepeatsWithinRepeats) {
  std::vector<PlanStep> steps = {{0, {}}};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i)
      steps.push_back({1, {static_cast<int>(steps.size()) - 1}});
    steps.push_back({2, {static_cast<int>(steps.size()) - 1}});
  }
  EXPECT_THAT(FindRepeats(steps),
              ElementsAre(Repeat{1, 6, 3}, Repeat{1, 2, 4}));
}

TEST(RepeatsTest, BeforeAndBehind) {
  std::vector<PlanStep> steps;
  for (const int kind : {1, 1, 2, 3, 3, 3})
    steps.push_back(
        {kind, steps.empty()
                   ? std::vector<int>{}
                   : std::vector<int>{static_cast<int>(steps.size()) - 1}});
  steps[1].sources.clear();
  EXPECT_THAT(FindRepeats(steps),
              ElementsAre(Repeat{0, 1, 2}, Repeat{3, 4, 3}));
}

}  // namespace
}  // namespace tilewright::tools
