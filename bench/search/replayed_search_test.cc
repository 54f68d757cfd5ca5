#include "bench/search/replayed_search.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "bench/search/scheme.h"
#include "bench/search/search_table.h"
#include "bench/search/test_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

SearchTable Bowl() {
  const auto table = SearchTable::FromProto(
      MadeUpTable(12, 12,
                  [](int x, int y) {
                    return 10'000 *
                           (1 + 0.1 * (std::abs(x - 7) + std::abs(y - 3)));
                  }),
      MadeUpFeatures());
  EXPECT_TRUE(table.ok()) << table.status();
  return *table;
}

Scheme Named(const std::string& text) {
  const absl::StatusOr<Scheme> scheme = ParseScheme(text);
  EXPECT_TRUE(scheme.ok()) << scheme.status();
  return *scheme;
}

Curve RunReplay(const SearchTable& table, const std::string& scheme,
                uint64_t seed, const ReplayOptions& options) {
  FakeClock cpu;
  const absl::StatusOr<Curve> curve =
      Replay(table, Named(scheme), seed, options, cpu);
  EXPECT_TRUE(curve.ok()) << curve.status();
  return *curve;
}

TEST(ReplayedSearchTest, GridSearchTakesWhatTheTableRecorded) {
  const SearchTable table = Bowl();
  ReplayOptions options;
  options.trials = 1000;
  const Curve curve = RunReplay(table, "grid", 0, options);
  ASSERT_EQ(curve.size(), 144);
  EXPECT_NEAR(curve.back().ns, 10'000, 5);
  // Built by two, 500 executions each; 1 ms to make one, of one run each.
  double seconds = 0;
  for (const TableEntry& entry : table.entries())
    seconds += 1e-9 * (2e6 / 2 + 1e6 + 500 * entry.ns + 1e6);
  EXPECT_NEAR(curve.back().seconds, seconds, 1e-3 * seconds);
}

TEST(ReplayedSearchTest, ExecutionsEndEarlyWhereTheyDoNotVary) {
  const SearchTable table = Bowl();
  ReplayOptions options;
  options.trials = 32;
  const Curve all = RunReplay(table, "random", 3, options);
  const Curve some = RunReplay(table, "random:adaptive", 3, options);
  ASSERT_EQ(all.size(), some.size());
  EXPECT_EQ(all.back().ns, some.back().ns);
  // 150 of 500 executions.
  EXPECT_LT(some.back().seconds, all.back().seconds);
}

TEST(ReplayedSearchTest, EqualSeedsGiveEqualCurves) {
  const SearchTable table = Bowl();
  for (const char* scheme :
       {"evolution", "evolution:crossover:regression", "annealing:rank",
        "annealing:diverse", "improvement:adaptive", "contextual", "random"}) {
    const Curve a = RunReplay(table, scheme, 5, {64, 16});
    const Curve b = RunReplay(table, scheme, 5, {64, 16});
    ASSERT_EQ(a.size(), 64) << scheme;
    ASSERT_EQ(b.size(), 64) << scheme;
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].ns, b[i].ns) << scheme;
      EXPECT_EQ(a[i].seconds, b[i].seconds) << scheme;
    }
  }
}

// Methods that learn find the best of 144 in 64 trials, in most runs.
TEST(ReplayedSearchTest, MethodsThatLearnFindTheBest) {
  const SearchTable table = Bowl();
  for (const char* scheme : {"evolution", "annealing", "improvement"}) {
    std::vector<Curve> curves;
    for (uint64_t seed = 0; seed < 7; ++seed)
      curves.push_back(RunReplay(table, scheme, seed, {64, 16}));
    EXPECT_LE(MedianAfter(curves, 64), 1.11 * table.best_ns()) << scheme;
  }
}

TEST(ReplayedSearchTest, ASeededSearchBeginsWithWhatIsPreferred) {
  const SearchTable table = Bowl();
  const Curve curve = RunReplay(table, "random:seeded", 1, {16, 16});
  ASSERT_NE(table.preferred(), nullptr);
  EXPECT_EQ(curve.front().ns, table.preferred()->ns);
}

TEST(ReplayedSearchTest, MediansOverRuns) {
  const std::vector<Curve> curves = {{{1, 30}, {2, 20}, {3, 10}},
                                     {{1, 40}, {4, 15}, {6, 15}},
                                     {{2, kNever}, {3, 12}, {5, 11}}};
  EXPECT_EQ(MedianAfter(curves, 1), 40);
  EXPECT_EQ(MedianAfter(curves, 2), 15);
  EXPECT_EQ(MedianAfter(curves, 9), 11);
  EXPECT_EQ(TrialsTo(curves, 16), 2);
  EXPECT_EQ(TrialsTo(curves, 9), kNever);
  // 10, 40, 12 at 3 s; 10, 15, 12 at 4 s; 10, 15, 11 at 5 s.
  EXPECT_EQ(SecondsTo(curves, 12), 3);
  EXPECT_EQ(SecondsTo(curves, 11), 5);
  EXPECT_EQ(SecondsTo(curves, 10), kNever);
}

TEST(ReplayedSearchTest, TwiceAsFastIsTwoTimesSooner) {
  std::vector<Curve> slow, fast, never;
  for (int i = 0; i < 20; ++i) {
    slow.push_back({{2, 30}, {4, 20}, {8, 10}});
    fast.push_back({{1, 30}, {2, 20}, {4, 10}});
    never.push_back({{1, 30}, {2, 20}, {4, 11}});
  }
  Random random(1);
  const Interval sooner = TimesSooner(slow, fast, random);
  EXPECT_EQ(sooner.value, 2);
  EXPECT_EQ(sooner.low, 2);
  EXPECT_EQ(sooner.high, 2);
  EXPECT_EQ(TimesSooner(slow, never, random).value, 0);
}

TEST(SchemeTest, SaysWhatIsNone) {
  for (const char* text :
       {"", "evolve", "evolution:fast", "contextual:ansor", "improvement:none"})
    EXPECT_THAT(ParseScheme(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
}

}  // namespace
}  // namespace tilewright::bench
