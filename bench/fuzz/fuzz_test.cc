// A thousand fuzzed cases: whatever is changed in a model or a .tw file, it is
// run or refused in one line; no signal, no hang, no more than 4 GiB.
//
// TILEWRIGHT_FUZZ_CASES sets the number over all shards (500 of each kind by
// default), TILEWRIGHT_FUZZ_FIRST the first index.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/fuzz/fuzz_runs.h"
#include "bench/fuzz/fuzz_seeds.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

constexpr int kParts = 4;
constexpr int64_t kMostSeedBytes = 1 << 18;
constexpr int64_t kNetworks = 200;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

const std::vector<FuzzSeed>& Seeds() {
  static const std::vector<FuzzSeed>& seeds = *[] {
    google::protobuf::SetLogHandler(nullptr);
    auto* seeds = new std::vector<FuzzSeed>(ReadFuzzSeeds(
        {"testdata", "/usr/share/libonnx-testdata/data/node"}, kMostSeedBytes));
    for (FuzzSeed& network : RandomNetworkSeeds(kNetworks))
      seeds->push_back(std::move(network));
    return seeds;
  }();
  return seeds;
}

FuzzRunOptions OptionsOf(int part) {
  const int64_t all = FromEnvironment("TILEWRIGHT_FUZZ_CASES", 500);
  FuzzRunOptions options;
  options.first =
      FromEnvironment("TILEWRIGHT_FUZZ_FIRST", 0) + all * part / kParts;
  options.models = all * (part + 1) / kParts - all * part / kParts;
  options.max_work = 1e7;
  return options;
}

class FuzzTest : public testing::TestWithParam<int> {};

TEST_P(FuzzTest, ChangedModelsRunOrAreRefusedInOneLine) {
  ASSERT_GE(Seeds().size(), 10u);
  const FuzzRunOptions options = OptionsOf(GetParam());
  const FuzzReport report = FuzzOnnx(Seeds(), options);
  EXPECT_TRUE(report.problems().empty()) << report.Text();
  // The changes leave some models valid, and not most.
  EXPECT_GE(report.count("ran"), options.models / 10);
  EXPECT_GE(report.count("refused by import"), options.models / 10);
}

TEST_P(FuzzTest, ChangedTwFilesRunOrAreRefusedInOneLine) {
  const FuzzRunOptions options = OptionsOf(GetParam());
  const FuzzReport report = FuzzTw(Seeds(), options);
  EXPECT_TRUE(report.problems().empty()) << report.Text();
  EXPECT_GE(report.count("ran"), options.models / 10);
  EXPECT_GE(report.count("refused by loader"), options.models / 10);
}

INSTANTIATE_TEST_SUITE_P(Parts, FuzzTest, testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::bench
