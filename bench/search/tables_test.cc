// The tables in testdata are whole, their schedules still replay, and a search
// on them finds something.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status_matchers.h"
#include "bench/search/replayed_search.h"
#include "bench/search/scheme.h"
#include "bench/search/search_table.h"
#include "bench/search/search_table.pb.h"
#include "gtest/gtest.h"
#include "search/replayed_features.h"

namespace tilewright::bench {
namespace {

class TablesTest : public testing::TestWithParam<const char*> {};

TEST_P(TablesTest, ASearchComesNearTheBestEntry) {
  TW_ASSERT_OK_AND_ASSIGN(
      const std::string bytes,
      ReadFile(absl::StrCat("testdata/search_tables/", GetParam(), ".table"),
               1 << 20));
  SearchTableProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  TW_ASSERT_OK_AND_ASSIGN(
      const SearchTable table,
      SearchTable::FromProto(proto, search::ReplayedStoreFeatures()));
  EXPECT_GE(table.entries().size(), 400);
  TW_ASSERT_OK_AND_ASSIGN(const Scheme scheme, ParseScheme("annealing"));
  FakeClock cpu;
  std::vector<Curve> curves;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    TW_ASSERT_OK_AND_ASSIGN(
        curves.emplace_back(),
        Replay(table, scheme, seed, {/*trials=*/96, /*batch=*/32}, cpu));
  }
  EXPECT_LE(MedianAfter(curves, 96), 1.15 * table.best_ns());
}

INSTANTIATE_TEST_SUITE_P(Tables, TablesTest,
                         testing::Values("gemm_512", "mobilenet_depthwise_14",
                                         "resnet_3x3_64_128_28_stride2",
                                         "swin_softmax_49"));

}  // namespace
}  // namespace tilewright::bench
