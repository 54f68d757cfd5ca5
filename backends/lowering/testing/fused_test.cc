// Groups computed tile by tile, for every CPU class: what the scalar tier
// computes is what the reference interpreter computes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/testing/default_case.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/testing/fused_windows.h"
#include "sketch/testing/fused_workloads.h"

namespace tilewright::lowering {
namespace {

VectorTarget TargetOf(const DeviceSpec& spec) {
  VectorTarget target;
  target.vector_bytes = static_cast<int>(spec.unit().vector_bytes());
  target.registers = static_cast<int>(spec.unit().vector_registers());
  return target;
}

// All that a group reads comes from beyond it.
void ShrinkL2(DeviceSpec& spec) {
  for (MemoryLevel& level : *spec.mutable_levels()) {
    if (level.name() == "l2") level.set_capacity_bytes(64);
  }
}

absl::Status RunCase(const sketch::FusedWorkload& fused, uint64_t seed) {
  const char* const specs[] = {"cpu_x86_64_v4", "cpu_x86_64_v3",
                               "cpu_x86_64_v2"};
  TW_ASSIGN_OR_RETURN(DeviceSpec spec, LoadSpec(specs[seed % 3]));
  // Tasks of several tiles.
  if (seed / 6 % 2 == 0) spec.mutable_unit()->set_cores(1);
  if (seed / 12 % 2 == 0) ShrinkL2(spec);
  TW_ASSIGN_OR_RETURN(const RandomCase drawn, FusedCase(fused, spec, seed));
  TW_ASSIGN_OR_RETURN(const kernel_ir::ScalarKernel scalar,
                      Legalize(drawn.kernel, TargetOf(spec)));
  std::vector<std::string> args = drawn.args;
  TW_RETURN_IF_ERROR(
      InterpretScalarKernel(scalar, absl::MakeSpan(args), 0, scalar.num_tasks));
  const absl::Status status = CheckResults(drawn, args);
  if (status.ok()) return status;
  return absl::InternalError(absl::StrCat(spec.name(), ": ",
                                          std::string(status.message()), "\n",
                                          drawn.ToString()));
}

class FusedTest : public ::testing::TestWithParam<int> {};

TEST_P(FusedTest, ScalarTierEqualsTheReference) {
  constexpr int kCases = 40;
  for (int i = 0; i < kCases; ++i) {
    const uint64_t seed = 1000 + GetParam() * kCases + i;
    const absl::Status status =
        RunCase(seed / 3 % 2 == 0 ? sketch::DrawFused(seed)
                                  : sketch::DrawWindowChain(seed),
                seed);
    ASSERT_TRUE(status.ok())
        << "seed " << seed << ": " << std::string(status.message());
  }
}

TEST_P(FusedTest, NormsBeforeWindowsEqualTheReference) {
  constexpr int kCases = 20;
  for (int i = 0; i < kCases; ++i) {
    const uint64_t seed = GetParam() * kCases + i;
    const absl::Status status = RunCase(sketch::DrawNormedWindow(seed), seed);
    ASSERT_TRUE(status.ok())
        << "seed " << seed << ": " << std::string(status.message());
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, FusedTest, ::testing::Range(0, 4));

// Rows of several tiles and of a partial last one: register tiles of six rows,
// which bring those of the next one closer.
TEST(RowsFromFarTest, TheFirstStageAsksForTheNextRegisterTile) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  spec.mutable_unit()->set_cores(1);
  ShrinkL2(spec);
  sketch::FusedWorkload fused = sketch::Mlp(40, {64, 64, 64});
  const auto prefetches = [&](int64_t rows) -> int {
    fused.plan.tile = {rows, 64};
    LegalizeReport report;
    absl::StatusOr<RandomCase> made = FusedCase(fused, spec, 1);
    EXPECT_THAT(made.status(), IsOk());
    if (!made.ok()) return -1;
    EXPECT_EQ(made->schedule.ToString().find("prefetch=1") != std::string::npos,
              rows > 6);
    const absl::StatusOr<kernel_ir::ScalarKernel> scalar =
        Legalize(made->kernel, TargetOf(spec), &report);
    EXPECT_THAT(scalar.status(), IsOk());
    if (!scalar.ok()) return -1;
    std::vector<std::string> args = made->args;
    TW_EXPECT_OK(InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                       scalar->num_tasks));
    TW_EXPECT_OK(CheckResults(*made, args));
    return report.prefetches;
  };
  // One share a step, of one stage alone.
  EXPECT_EQ(prefetches(20), 1);
  EXPECT_EQ(prefetches(12), 1);
  EXPECT_EQ(prefetches(18), 1);
  EXPECT_EQ(prefetches(6), 0);  // one register tile is all of it
  TW_ASSERT_OK_AND_ASSIGN(spec, LoadSpec("cpu_x86_64_v4"));
  fused.plan.tile = {12, 64};
  TW_ASSERT_OK_AND_ASSIGN(const RandomCase near, FusedCase(fused, spec, 1));
  EXPECT_EQ(near.schedule.ToString().find("prefetch=1"), std::string::npos);
}

// Tiles of one row need three rows of the image before, two of which are kept.
// Pixels are normed several at a time: a tile of them may be part of both.
TEST(RollingTest, SumsOfARolledNormAreOfNewRowsOnly) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  spec.mutable_unit()->set_cores(1);
  constexpr int64_t kRows = 48, kColumns = 33, kChannels = 48;
  sketch::FusedWorkload fused =
      sketch::NormedWindow(kRows, kColumns, kChannels, 32);
  fused.plan.tile = {1, 32, 1, kColumns};
  TW_ASSERT_OK_AND_ASSIGN(const RandomCase made, FusedCase(fused, spec, 1));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::ScalarKernel scalar,
                          Legalize(made.kernel, TargetOf(spec)));
  std::vector<std::string> args = made.args;
  int64_t read_bytes = 0;
  TW_ASSERT_OK(InterpretScalarKernel(
      scalar, absl::MakeSpan(args), 0, scalar.num_tasks,
      [&](int buffer, int64_t, int64_t size_bytes, bool is_store) {
        if (buffer == 0 && !is_store) read_bytes += size_bytes;
      }));
  EXPECT_LT(read_bytes, 2 * kRows * kColumns * kChannels * int64_t{4});
}

// Border tasks, first and last rows and narrow ends of two channel counts: more
// copies of the whole kernel than there is room for.
TEST(BorderTest, NoStageKeepsPredicates) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  spec.mutable_unit()->set_cores(1);
  using Kind = sketch::WindowStep::Kind;
  sketch::FusedWorkload fused =
      sketch::WindowChain(24, 16, 24,
                          {{Kind::kConv, 70},
                           {Kind::kDepthwise, 70, 3, 1, 1, 1},
                           {Kind::kConv, 70},
                           {Kind::kConv, 40},
                           {Kind::kConv, 70},
                           {Kind::kConv, 24}},
                          sketch::WindowLayout::kLast);
  fused.plan.tile = {1, 24, 2, 8};
  TW_ASSERT_OK_AND_ASSIGN(const RandomCase made, FusedCase(fused, spec, 1));
  int predicates = 0;
  ForEachOp(made.kernel.body, [&](const kernel_ir::TileOp& op) {
    predicates += op.predicate ? 1 : 0;
  });
  EXPECT_EQ(predicates, 0) << made.kernel.ToString();
}

}  // namespace
}  // namespace tilewright::lowering
