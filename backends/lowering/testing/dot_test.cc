// Contractions of narrow numbers under their default schedules for every CPU
// class: what the scalar tier computes is what the reference interpreter
// computes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/testing/default_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/testing/dot_workloads.h"

namespace tilewright::lowering {
namespace {

constexpr int kParts = 4;
constexpr uint64_t kCases = 800;

VectorTarget TargetOf(const DeviceSpec& spec) {
  VectorTarget target;
  target.vector_bytes = static_cast<int>(spec.unit().vector_bytes());
  target.registers = static_cast<int>(spec.unit().vector_registers());
  for (const MatrixUnit& unit : spec.unit().matrix_units())
    target.intrinsics.push_back(unit.name());
  return target;
}

// `dots`: how many intrinsics the kernel holds.
absl::Status RunCase(const RandomCase& drawn, const VectorTarget& target,
                     int& dots) {
  LegalizeReport report;
  absl::StatusOr<kernel_ir::ScalarKernel> scalar =
      Legalize(drawn.kernel, target, &report);
  dots = report.dots;
  absl::Status status = scalar.status();
  std::vector<std::string> args = drawn.args;
  if (status.ok())
    status = InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                   scalar->num_tasks);
  if (status.ok()) status = CheckResults(drawn, args);
  if (status.ok()) return status;
  return absl::InternalError(
      absl::StrCat(std::string(status.message()), "\n", drawn.ToString(),
                   scalar.ok() ? scalar->ToString() : ""));
}

class DotTest : public ::testing::TestWithParam<int> {};

TEST_P(DotTest, ScalarTierEqualsTheReference) {
  const char* const specs[] = {"cpu_x86_64_v4_bf16", "cpu_x86_64_v3",
                               "cpu_x86_64_v2", "cpu_x86_64_v4_vnni"};
  int failures = 0, with_dots = 0;
  for (uint64_t seed = GetParam(); seed < kCases && failures < 3;
       seed += kParts) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                            LoadSpec(specs[seed / kParts % 4]));
    TW_ASSERT_OK_AND_ASSIGN(const RandomCase drawn,
                            DefaultCase(sketch::DrawDot(seed), spec, seed));
    int dots = 0;
    const absl::Status status = RunCase(drawn, TargetOf(spec), dots);
    with_dots += dots > 0;
    // A target that lacks the intrinsic runs the same kernel without it.
    VectorTarget without = TargetOf(spec);
    without.intrinsics.clear();
    int none = 0;
    const absl::Status plain =
        seed % 3 == 0 ? RunCase(drawn, without, none) : absl::OkStatus();
    EXPECT_EQ(none, 0);
    for (const absl::Status& one : {status, plain}) {
      if (one.ok()) continue;
      ++failures;
      ADD_FAILURE() << "seed " << seed << ", " << spec.name() << ": "
                    << std::string(one.message());
    }
  }
  EXPECT_GT(with_dots, static_cast<int>(kCases) / kParts / 5);
}

INSTANTIATE_TEST_SUITE_P(Parts, DotTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::lowering
