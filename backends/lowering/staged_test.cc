// Groups computed tile by tile, for every CPU class: what the scalar tier
// computes is what the reference interpreter computes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/default_case.h"
#include "backends/lowering/legalize.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"
#include "sketch/staged_windows.h"
#include "sketch/staged_workloads.h"

namespace tilewright::lowering {
namespace {

absl::Status RunCase(uint64_t seed) {
  const char* const specs[] = {"cpu_x86_64_v4", "cpu_x86_64_v3",
                               "cpu_x86_64_v2"};
  TW_ASSIGN_OR_RETURN(DeviceSpec spec, LoadSpec(specs[seed % 3]));
  // Tasks of several tiles.
  if (seed / 6 % 2 == 0) spec.mutable_unit()->set_cores(1);
  TW_ASSIGN_OR_RETURN(
      const RandomCase drawn,
      StagedCase(seed / 3 % 2 == 0 ? sketch::DrawStaged(seed)
                                   : sketch::DrawWindowChain(seed),
                 spec, seed));
  VectorTarget target;
  target.vector_bytes = static_cast<int>(spec.unit().vector_bytes());
  target.registers = static_cast<int>(spec.unit().vector_registers());
  TW_ASSIGN_OR_RETURN(const kernel_ir::ScalarKernel scalar,
                      Legalize(drawn.kernel, target));
  std::vector<std::string> args = drawn.args;
  TW_RETURN_IF_ERROR(
      InterpretScalarKernel(scalar, absl::MakeSpan(args), 0, scalar.num_tasks));
  const absl::Status status = CheckResults(drawn, args);
  if (status.ok()) return status;
  return absl::InternalError(absl::StrCat(spec.name(), ": ",
                                          std::string(status.message()), "\n",
                                          drawn.ToString()));
}

class StagedTest : public ::testing::TestWithParam<int> {};

TEST_P(StagedTest, ScalarTierEqualsTheReference) {
  constexpr int kCases = 40;
  for (int i = 0; i < kCases; ++i) {
    const uint64_t seed = 1000 + GetParam() * kCases + i;
    const absl::Status status = RunCase(seed);
    ASSERT_TRUE(status.ok())
        << "seed " << seed << ": " << std::string(status.message());
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, StagedTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace tilewright::lowering
