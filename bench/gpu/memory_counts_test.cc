// What warps ask for is what plans expect, but for copies: no plan knows their
// threads, nor the order of their elements (sketch/simt/operand_order.h). Most
// of what is counted beside the plan are the weights of fused convolutions.
#include "bench/gpu/memory_counts.h"

#include "absl/strings/match.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(MemoryCountsTest, PlansExpectWhatIsCounted) {
  TW_ASSERT_OK_AND_ASSIGN(
      const ImportedModel model,
      ImportModel("testdata/resnet18_small/model.onnx", {}));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("h100"));
  const auto codegen = emulator::CreateEmulatorCodegen(spec);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, {}));
  TW_ASSERT_OK_AND_ASSIGN(const MemoryCounts counts,
                          CountMemory(compiled, 1e7));
  EXPECT_TRUE(counts.left_out.empty());
  double planned[2] = {}, counted[2] = {};
  double planned_sums = 0, counted_sums = 0;  // of convolutions, shared
  int rows = 0, agree = 0;
  for (const MemoryRow& row : counts.rows) {
    SCOPED_TRACE(row.kernel + ": " + row.tensor);
    EXPECT_GT(row.counted, 0);
    EXPECT_GT(row.planned, 0);
    EXPECT_GE(row.counted, row.block_sectors);
    EXPECT_GE(row.counted, row.least);
    planned[row.shared] += row.planned;
    counted[row.shared] += row.counted;
    if (row.shared && absl::EndsWith(row.tensor, ".conv")) {
      planned_sums += row.planned;
      counted_sums += row.counted;
    }
    ++rows;
    agree += row.agrees(row.planned) ? 1 : 0;
  }
  ASSERT_GT(rows, 50);
  EXPECT_GE(agree * 100, rows * 60);
  EXPECT_NEAR(planned[false], counted[false], 0.25 * counted[false]);
  EXPECT_NEAR(planned[true], counted[true], 0.45 * counted[true]);
  // Sums are stored when they are done, not with every term.
  EXPECT_GT(counted_sums, 0);
  EXPECT_NEAR(planned_sums, counted_sums, 0.2 * counted_sums);
  EXPECT_LT(counted_sums, 0.05 * counted[true]);
}

}  // namespace
}  // namespace tilewright
