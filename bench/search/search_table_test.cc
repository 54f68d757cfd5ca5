#include "bench/search/search_table.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "bench/search/test_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "search/candidate.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {
namespace {

constexpr double kFails = std::numeric_limits<double>::infinity();

// 10 us at (2, 1); the point (0, 1) is refused, (0, 2) fails.
double Hill(int x, int y) {
  if (x == 0 && y == 1) return 0;
  if (x == 0 && y == 2) return kFails;
  return 10'000 * (1 + std::abs(x - 2) + std::abs(y - 1));
}

TEST(SearchTableTest, SamplesArePackedAlmostExactly) {
  const std::vector<double> ns = {1, 3.7, 12'345, 12'346, 9e9, 55};
  google::protobuf::RepeatedField<int32_t> packed;
  PackSamples(ns, packed);
  const std::vector<double> again = UnpackSamples(packed);
  ASSERT_EQ(again.size(), ns.size());
  for (size_t i = 0; i < ns.size(); ++i) EXPECT_NEAR(again[i] / ns[i], 1, 4e-4);
}

TEST(SearchTableTest, TheSpaceHasAllPointsThatWereNotRefused) {
  TW_ASSERT_OK_AND_ASSIGN(
      const SearchTable table,
      SearchTable::FromProto(MadeUpTable(4, 3, Hill), MadeUpFeatures()));
  EXPECT_EQ(table.entries().size(), 11);
  EXPECT_NEAR(table.best_ns(), 10'000, 5);
  ASSERT_NE(table.preferred(), nullptr);
  EXPECT_NEAR(table.preferred()->ns, 40'000, 20);

  search::TaskSpace space = table.Space({});
  Random random(1);
  std::set<Fingerprint> drawn;
  for (int i = 0; i < 300; ++i) {
    const absl::StatusOr<search::Candidate> candidate = space.Draw(random);
    if (!candidate.ok()) continue;
    const TableEntry* entry = table.Find(candidate->trace);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(candidate->features.at(0, 0), entry->features.at(0, 0));
    drawn.insert(candidate->trace);
  }
  EXPECT_EQ(drawn.size(), 11);
  EXPECT_GT(space.refused(), 0);
}

TEST(SearchTableTest, TheNearestPointsToAnotherTablesFastest) {
  TW_ASSERT_OK_AND_ASSIGN(
      const SearchTable table,
      SearchTable::FromProto(MadeUpTable(4, 3, Hill), MadeUpFeatures()));
  const auto far = [](int x, int y) {
    return 10'000.0 * (1 + std::abs(x - 9) + std::abs(y - 1));
  };
  TW_ASSERT_OK_AND_ASSIGN(
      const SearchTable other,
      SearchTable::FromProto(MadeUpTable(12, 3, far), MadeUpFeatures()));
  const std::vector<Answers> starts = table.NearestTo(other, 2);
  ASSERT_EQ(starts.size(), 2);
  EXPECT_EQ(starts[0], (Answers{{"x", "3"}, {"y", "1"}}));
  EXPECT_EQ(starts[1].at("x"), "3");
  EXPECT_NE(starts[1].at("y"), "1");
}

TEST(SearchTableTest, DamagedTablesAreRefused) {
  const SearchTableProto whole = MadeUpTable(2, 2, Hill);
  SearchTableProto damaged = whole;
  damaged.add_entry_of_point(1);
  EXPECT_THAT(SearchTable::FromProto(damaged, MadeUpFeatures()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
  damaged = whole;
  damaged.set_entry_of_point(0, 99);
  EXPECT_THAT(SearchTable::FromProto(damaged, MadeUpFeatures()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
  damaged = whole;
  damaged.mutable_entries(0)->set_instructions(0, 99);
  EXPECT_THAT(SearchTable::FromProto(damaged, MadeUpFeatures()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
  damaged = whole;
  damaged.mutable_entries(0)->clear_first_pass();
  damaged.mutable_entries(0)->clear_second_pass();
  EXPECT_THAT(SearchTable::FromProto(damaged, MadeUpFeatures()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
  damaged = whole;
  damaged.mutable_knobs(1)->set_preferred(2);
  EXPECT_THAT(SearchTable::FromProto(damaged, MadeUpFeatures()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace tilewright::bench
