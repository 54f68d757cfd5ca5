// What warps ask for is what plans expect: the walk through a kernel's scalar
// tier (compiler/kernels/memory_requests.h) and the emulator, which runs its
// text, count the same. Of large kernels the walk takes a sample.
#include "bench/gpu/memory_counts.h"

#include <ostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

struct Case {
  const char* model;
  const char* spec;
  // Whether what convolutions read passes through shared memory: an H100's
  // plans of small ones read filters of many channels where they lie.
  bool stages_operands;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.model << " on " << one.spec;
}
class MemoryCountsTest : public testing::TestWithParam<Case> {};

TEST_P(MemoryCountsTest, PlansExpectWhatIsCounted) {
  TW_ASSERT_OK_AND_ASSIGN(
      const ImportedModel model,
      ImportModel(absl::StrCat("testdata/", GetParam().model, "/model.onnx"),
                  {}));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(GetParam().spec));
  const auto codegen = emulator::CreateEmulatorCodegen(spec);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, {}));
  TW_ASSERT_OK_AND_ASSIGN(const MemoryCounts counts,
                          CountMemory(compiled, 1e7));
  EXPECT_TRUE(counts.left_out.empty());
  double planned[2] = {}, counted[2] = {};
  // Of convolutions, shared.
  double counted_sums = 0, counted_filters = 0, least_filters = 0;
  int rows = 0, agree = 0;
  for (const MemoryRow& row : counts.rows) {
    SCOPED_TRACE(row.kernel + ": " + row.tensor);
    EXPECT_GT(row.counted, 0);
    EXPECT_NEAR(row.planned, row.counted, 0.25 * row.counted);
    EXPECT_GE(row.counted, row.block_sectors);
    EXPECT_GE(row.counted, row.least);
    planned[row.shared] += row.planned;
    counted[row.shared] += row.counted;
    if (row.shared && absl::EndsWith(row.tensor, ".conv"))
      counted_sums += row.counted;
    if (row.shared && absl::EndsWith(row.tensor, "weight.folded")) {
      counted_filters += row.counted;
      least_filters += row.least;
    }
    ++rows;
    agree += row.agrees(row.planned) ? 1 : 0;
  }
  ASSERT_GT(rows, 50);
  EXPECT_GE(agree * 100, rows * 95);
  EXPECT_NEAR(planned[false], counted[false], 0.03 * counted[false]);
  EXPECT_NEAR(planned[true], counted[true], 0.03 * counted[true]);
  if (!GetParam().stages_operands) return;
  // Threads copy filters without conflicts, but few channels.
  EXPECT_LE(counted_filters, 1.1 * least_filters);
  // Sums are stored when they are done, not with every term.
  EXPECT_LT(counted_sums, 0.05 * counted[true]);
}

INSTANTIATE_TEST_SUITE_P(Models, MemoryCountsTest,
                         testing::Values(Case{"resnet18_small", "a100", true},
                                         Case{"resnet18_small", "h100", false},
                                         Case{"nerf_small", "h100", true}));

}  // namespace
}  // namespace tilewright
