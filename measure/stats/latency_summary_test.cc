#include "measure/stats/latency_summary.h"

#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Mean 40 / 8 = 5; squared deviations 9 1 1 1 0 0 4 16 sum to 32, over 8 is 4.
// Sorted, the middle two are 4 and 5.
TEST(LatencySummaryTest, EightLatenciesByHand) {
  TW_ASSERT_OK_AND_ASSIGN(const LatencySummary summary,
                          SummarizeLatencies({9, 4, 5, 4, 2, 7, 5, 4}));
  EXPECT_EQ(summary.n, 8);
  EXPECT_EQ(summary.mean_ns, 5);
  EXPECT_EQ(summary.median_ns, 4.5);
  EXPECT_EQ(summary.low_ns, 2);
  EXPECT_EQ(summary.min_ns, 2);
  EXPECT_EQ(summary.stddev_ns, 2);
}

TEST(LatencySummaryTest, TheMedianOfAnOddNumberIsTheMiddleOne) {
  TW_ASSERT_OK_AND_ASSIGN(const LatencySummary summary,
                          SummarizeLatencies({30, 10, 11}));
  EXPECT_EQ(summary.median_ns, 11);
  EXPECT_EQ(summary.mean_ns, 17);
}

// It is the second smallest of 20, the third of 21.
TEST(LatencySummaryTest, ATenthIsNotAboveTheLowOne) {
  std::vector<double> latencies_ns;
  for (int i = 20; i >= 1; --i) latencies_ns.push_back(i);
  TW_ASSERT_OK_AND_ASSIGN(LatencySummary summary,
                          SummarizeLatencies(latencies_ns));
  EXPECT_EQ(summary.low_ns, 2);
  latencies_ns.push_back(21);
  TW_ASSERT_OK_AND_ASSIGN(summary, SummarizeLatencies(latencies_ns));
  EXPECT_EQ(summary.low_ns, 3);
  EXPECT_EQ(ComparedNs(summary, Compared::kLow), 3);
  EXPECT_EQ(ComparedNs(summary, Compared::kMedian), 11);
  EXPECT_EQ(ComparedNs(summary, Compared::kMean), 11);
}

TEST(LatencySummaryTest, OneDisturbanceMovesTheMeanOnly) {
  TW_ASSERT_OK_AND_ASSIGN(const LatencySummary summary,
                          SummarizeLatencies({10, 10, 40}));
  EXPECT_EQ(ComparedNs(summary, Compared::kMean), 20);
  EXPECT_EQ(ComparedNs(summary, Compared::kMedian), 10);
  LatencySummaryProto proto;
  proto.set_mean_ns(20);
  proto.set_median_ns(10);
  EXPECT_EQ(ComparedNs(proto, Compared::kMean), 20);
}

TEST(LatencySummaryTest, OldRecordsHaveOnlyTheirMedian) {
  LatencySummaryProto summary;
  summary.set_median_ns(7);
  EXPECT_EQ(ComparedNs(summary, Compared::kLow), 7);
  summary.set_low_ns(5);
  EXPECT_EQ(ComparedNs(summary, Compared::kLow), 5);
  EXPECT_EQ(ComparedNs(summary, Compared::kMedian), 7);
}

TEST(LatencySummaryTest, OneLatencyHasNoDeviation) {
  TW_ASSERT_OK_AND_ASSIGN(const LatencySummary summary,
                          SummarizeLatencies({7}));
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.mean_ns, 7);
  EXPECT_EQ(summary.median_ns, 7);
  EXPECT_EQ(summary.min_ns, 7);
  EXPECT_EQ(summary.stddev_ns, 0);
}

TEST(LatencySummaryTest, EqualLatenciesHaveNoDeviation) {
  TW_ASSERT_OK_AND_ASSIGN(const LatencySummary summary,
                          SummarizeLatencies({0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(summary.mean_ns, 0.5);
  EXPECT_EQ(summary.stddev_ns, 0);
}

TEST(LatencySummaryTest, WhatIsNoLatencyIsRefused) {
  EXPECT_THAT(SummarizeLatencies({}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no latencies"));
  for (const double bad : {kNaN, kInfinity, -kInfinity, -1.0}) {
    EXPECT_THAT(SummarizeLatencies({1, 2, bad}),
                StatusIs(absl::StatusCode::kInvalidArgument, "latency 2 is"))
        << bad;
  }
}

}  // namespace
}  // namespace tilewright::measure
