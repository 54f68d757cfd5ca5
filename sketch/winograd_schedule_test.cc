#include "sketch/winograd_schedule.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/default_schedule.h"
#include "sketch/replay.h"
#include "sketch/test_workloads.h"
#include "tilegraph/layout.h"
#include "tilegraph/winograd.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;

struct Case {
  int64_t in_channels, out_channels, height, width, padding;
  int m;
};

TEST(WinogradScheduleTest, BlocksOfTilesComputeTheConvolution) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (const Case& c : {Case{3, 16, 6, 6, 1, 2}, Case{16, 24, 5, 7, 1, 2},
                        Case{5, 40, 3, 33, 1, 2}, Case{4, 16, 10, 6, 0, 4}}) {
    Workload workload = ConvPadRelu(c.in_channels, c.out_channels, c.height,
                                    c.width, 3, 1, c.padding);
    workload.graph = RewriteWinograd(workload.graph, [&](const WinogradCase&) {
                       return c.m;
                     }).graph;
    const TensorId output = workload.graph.outputs()[0];
    workload.layouts[output] = Layout::BlockedLast(
        workload.graph.tensor(output).static_shape(), 1, 16);
    TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                            DefaultSchedule(workload, spec));
    EXPECT_THAT(schedule.ToString(), HasSubstr("in.c"));
    TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
    EXPECT_THAT(CheckTree(tree, workload, 5), IsOk()) << schedule.ToString();
  }
}

TEST(WinogradScheduleTest, OtherContractionsAreNone) {
  const Workload workload = ConvPadRelu(3, 16, 6, 6, 3, 1, 1);
  TW_ASSERT_OK_AND_ASSIGN(const Chain chain, FindChain(workload.graph));
  EXPECT_FALSE(IsWinograd(workload, chain));
}

}  // namespace
}  // namespace tilewright::sketch
