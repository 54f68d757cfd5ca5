#include "sketch/winograd_schedule.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/default_schedule.h"
#include "sketch/replay.h"
#include "sketch/test_workloads.h"
#include "tilegraph/layout.h"
#include "tilegraph/text_form.h"
#include "tilegraph/winograd.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;

// The convolution by F(m, 3), its result with channels in blocks.
void ExpectEqualResults(Workload workload, int m,
                        std::string_view spec_name = "cpu_x86_64_v4") {
  const DeviceSpec spec = *LoadSpec(spec_name);
  workload.graph = RewriteWinograd(workload.graph, [&](const WinogradCase&) {
                     return m;
                   }).graph;
  const TensorId output = workload.graph.outputs()[0];
  workload.layouts[output] =
      Layout::BlockedLast(workload.graph.tensor(output).static_shape(), 1, 16);
  TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                          DefaultSchedule(workload, spec));
  EXPECT_THAT(schedule.ToString(), HasSubstr("in.c"));
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
  EXPECT_THAT(CheckTree(tree, workload, 5), IsOk()) << schedule.ToString();
}

TEST(WinogradScheduleTest, BlocksOfTilesComputeTheConvolution) {
  ExpectEqualResults(ConvPadRelu(3, 16, 6, 6, 3, 1, 1), 2);
  ExpectEqualResults(ConvPadRelu(16, 24, 5, 7, 3, 1, 1), 2);
  ExpectEqualResults(ConvPadRelu(5, 40, 3, 33, 3, 1, 1), 2);
}

// With 16 registers several rows of tiles are in a register tile, and bands of
// seven rows are no multiple of it.
TEST(WinogradScheduleTest, BandsAreWholeRegisterTiles) {
  for (const char* spec : {"cpu_x86_64_v2", "cpu_x86_64_v3"}) {
    ExpectEqualResults(ConvPadRelu(2, 16, 28, 8, 3, 1, 1), 2, spec);
    ExpectEqualResults(ConvPadRelu(1, 16, 22, 12, 3, 1, 1), 2, spec);
  }
}

TEST(WinogradScheduleTest, LargeTilesReadStoredData) {
  std::string weights = "1";
  for (int i = 1; i < 16 * 2 * 9; ++i)
    absl::StrAppend(&weights, ", ", i * 7 % 5 - 2);
  const std::string text = absl::Substitute(R"(
    X: f32[1, 2, 10, 6] = placeholder
    W: f32[16, 2, 3, 3] = constant { $0 }
    C: f32[1, 16, 8, 4] = compute (n: 1, o: 16, h: 8, w: 4)
      reduce (c: 2, i: 3, j: 3) sum:f32 {
        X[n, c, h + i, w + j] * W[o, c, i, j] } hint conv
    Y: f32[1, 16, 8, 4] = compute (n: 1, o: 16, h: 8, w: 4) {
        max(C[n, o, h, w], 0.0) }
    return Y
  )",
                                            weights);
  Workload workload;
  TW_ASSERT_OK_AND_ASSIGN(workload.graph, ParseText(text));
  ExpectEqualResults(std::move(workload), 4);
}

TEST(WinogradScheduleTest, OtherContractionsAreNone) {
  const Workload workload = ConvPadRelu(3, 16, 6, 6, 3, 1, 1);
  TW_ASSERT_OK_AND_ASSIGN(const Chain chain, FindChain(workload.graph));
  EXPECT_FALSE(IsWinograd(workload, chain));
}

}  // namespace
}  // namespace tilewright::sketch
