#include "measure/parallel/react.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

constexpr double kGood = 0.01;
constexpr double kBad = 0.2;

// One round: what it found, and the state it leaves.
struct Step {
  double mean_delta;
  int failures;
  int degree;
  int adaptive_max;
};

void ExpectTrace(React& react, const std::vector<Step>& steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    react.Update(steps[i].mean_delta, steps[i].failures);
    EXPECT_EQ(react.degree(), steps[i].degree) << "after step " << i;
    EXPECT_EQ(react.adaptive_max(), steps[i].adaptive_max)
        << "after step " << i;
  }
}

TEST(ReactTest, AScriptedSequence) {
  React react({});
  EXPECT_EQ(react.degree(), 1);
  EXPECT_EQ(react.adaptive_max(), 64);
  ExpectTrace(react,
              {
                  {kGood, 0, 13, 64},  // gamma = 63/2, at most 12
                  {kGood, 0, 25, 64},  // 51/2, at most 12
                  {kGood, 0, 37, 64},  // 39/2, at most 12
                  {kGood, 0, 49, 64},  // 27/2, at most 12
                  {kBad, 0, 39, 44},   // A = 49*0.9 = 44.1, d = 49*0.8 = 39.2
                  {kGood, 0, 41, 44},  // 5/2 = 2.5: 41.5
                  {kGood, 0, 43, 44},  // 3/2, at least 2
                  {kGood, 0, 45, 44},  // 1/2, at least 2
                  {kGood, 0, 47, 44},  // beyond A: 45 - 44 = 1, at least 2
                  {kGood, 0, 50, 44},  // 47 - 44 = 3
                  {kGood, 0, 56, 44},  // 6
                  {kGood, 0, 64, 44},  // 12, at most max_degree
                  {kGood, 0, 64, 44},  // stays there
                  {kBad, 0, 51, 64},   // not below A: A = d = 64, d = 51.2
                  {kGood, 3, 40, 45},  // 3 > 0.05*51 = 2.55: A = 45.9, d = 40.8
                  {kGood, 2, 42, 45},  // 2 <= 0.05*40 = 2: increases, 5/2: 42.5
                  {kBad, 0, 33, 37},   // A = 37.8, d = 33.6
                  {kBad, 9, 26, 29},   // both: one decrease. A = 29.7, d = 26.4
              });
}

// The shortest way down, and what a program that fills the device does there:
// it never has more than 3 at a time.
TEST(ReactTest, DownToOneAndAround) {
  ReactOptions options;
  options.initial_degree = 13;
  React react(options);
  ExpectTrace(react, {
                         {kBad, 0, 10, 11},  // 11.7, 10.4
                         {kBad, 0, 8, 9},    // 9, 8
                         {kBad, 0, 6, 7},    // 7.2, 6.4
                         {kBad, 0, 4, 5},    // 5.4, 4.8
                         {kBad, 0, 3, 3},    // 3.6, 3.2
                         {kBad, 0, 2, 3},    // not below A: A = 3; 2.4
                         {kBad, 0, 1, 1},    // 1.8, 1.6
                         {kGood, 0, 3, 1},   // d = A: gamma 0, at least 2
                         {kBad, 0, 2, 3},    // not below A; 2.4
                         {kBad, 0, 1, 1},    // 1.8, 1.6
                         {kBad, 0, 1, 1},    // never below 1
                         {kGood, 0, 3, 1},
                     });
}

TEST(ReactTest, TheThresholdItselfIsGoodEnough) {
  ReactOptions options;
  options.initial_degree = 20;
  React react(options);
  react.Update(0.05, 1);  // 1 failure = 0.05 * 20
  EXPECT_EQ(react.degree(), 32);
  react.Update(0.0500001, 0);
  EXPECT_EQ(react.degree(), 25);  // 25.6
}

TEST(ReactTest, ARoundThatDecreasesDoesNotIncrease) {
  ReactOptions options;
  options.initial_degree = 10;
  options.initial_max = 64;
  React react(options);
  react.Update(kBad, 0);
  EXPECT_EQ(react.degree(), 8);  // not 8 + (9 - 8)/2, at least 2
}

// Algorithm 2, lines 12 to 16, to the letter: it does not get below 8 with
// workers for 16, whatever the rounds say.
TEST(ReactTest, AsInAlgorithm2ARoundThatDecreasesAlsoIncreases) {
  ReactOptions options;
  options.initial_max = 16;
  options.increase_after_decrease = true;
  React react(options);
  ExpectTrace(react, {
                         {kGood, 0, 8, 16},  // gamma = 15/2: 8.5
                         {kBad, 0, 8, 7},    // A 7.2, d 6.4, gamma 0.5 -> 2
                         {kBad, 0, 8, 8},    // not below A: A = 8; 6, 1 -> 2
                         {kBad, 0, 8, 8},
                         {0.9, 8, 8, 8},
                         {kGood, 0, 10, 8},
                     });
}

TEST(ReactTest, WhatCouldNotBeComparedIsTooMuch) {
  for (const double unknown : {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    ReactOptions options;
    options.initial_degree = 10;
    React react(options);
    react.Update(unknown, 0);
    EXPECT_EQ(react.degree(), 8) << unknown;
  }
}

TEST(ReactTest, NeverMoreThanTheWorkers) {
  ReactOptions options;
  options.max_degree = 2;
  React react(options);
  react.Update(0, 0);
  EXPECT_EQ(react.degree(), 2);
  react.Update(kBad, 0);
  EXPECT_EQ(react.degree(), 1);
}

TEST(ReactTest, BacksOffForTwiceAsLongEachTimeAnIncreaseFails) {
  ReactOptions options;
  options.initial_max = 1;
  options.backoff_rounds = 2;
  React react(options);
  ExpectTrace(
      react,
      {
          {kGood, 0, 3, 1},  // gamma 0, at least 2
          {kBad, 0, 2, 3},   // failed: will wait 2 rounds
          {kBad, 0, 1, 1},  {kGood, 0, 1, 1},
          {kGood, 0, 1, 1}, {kGood, 0, 3, 1},
          {kBad, 0, 2, 3},                    // failed again: 4 rounds
          {kGood, 0, 2, 3}, {kBad, 0, 1, 1},  // not after an increase: 4 again
          {kGood, 0, 1, 1}, {kGood, 0, 1, 1},
          {kGood, 0, 1, 1}, {kGood, 0, 1, 1},
          {kGood, 0, 3, 1}, {kGood, 0, 5, 1},  // was good: starts anew. gamma 2
          {kBad, 0, 4, 5},                     // failed: 2 rounds
          {kGood, 0, 4, 5}, {kGood, 0, 4, 5},
          {kGood, 0, 6, 5},
      });
}

// gamma at most 7, alpha 128.
TEST(ReactTest, TheConstantsAsPublished) {
  React react(ReactOptions::AsPublished());
  EXPECT_EQ(react.adaptive_max(), 128);
  react.Update(0, 0);
  EXPECT_EQ(react.degree(), 8);
  react.Update(0, 0);
  EXPECT_EQ(react.degree(), 15);
}

// 8 slowed down to a third: 8 / 3 fit. A is 8 (2 - 2/3) / 2 = 5.33; from 2 it
// then is (5 - 2) / 2 -> 2 more; what is below beta, or no number, is beta.
TEST(ReactTest, DecreasesByWhatWasSeen) {
  ReactOptions options;
  options.initial_degree = 8;
  options.decrease_by_delta = true;
  React react(options);
  react.Update(2.0 / 3, 0);
  EXPECT_EQ(react.degree(), 2);
  EXPECT_EQ(react.adaptive_max(), 5);
  react.Update(0, 0);
  EXPECT_EQ(react.degree(), 4);
  react.Update(0.1, 0);  // floor(4 * 0.8), floor(4 * 0.9)
  EXPECT_EQ(react.degree(), 3);
  EXPECT_EQ(react.adaptive_max(), 3);
  react.Update(std::numeric_limits<double>::quiet_NaN(),
               0);  // A is no more than 3: it is 3 again
  EXPECT_EQ(react.degree(), 2);
  react.Update(1, 0);
  EXPECT_EQ(react.degree(), 1);
}

}  // namespace
}  // namespace tilewright::measure
