// Random workloads of every family under their default schedules, for every CPU
// class: what the scalar tier computes is what the reference interpreter
// computes.
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/testing/default_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

constexpr int kParts = 4;
constexpr uint64_t kCases = 800;  // of every family

absl::Status RunCase(const Family& family, uint64_t seed) {
  const char* const specs[] = {"cpu_x86_64_v4", "cpu_x86_64_v3",
                               "cpu_x86_64_v2"};
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(specs[seed / 2 % 3]));
  TW_ASSIGN_OR_RETURN(const RandomCase drawn,
                      DefaultCase(family.draw(seed), spec, seed));
  VectorTarget target;
  target.vector_bytes = static_cast<int>(spec.unit().vector_bytes());
  target.registers = static_cast<int>(spec.unit().vector_registers());
  absl::StatusOr<kernel_ir::ScalarKernel> scalar =
      Legalize(drawn.kernel, target);
  absl::Status status = scalar.status();
  std::vector<std::string> args = drawn.args;
  if (status.ok())
    status = InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                   scalar->num_tasks);
  if (status.ok()) status = CheckResults(drawn, args);
  if (status.ok()) return status;
  return absl::InternalError(absl::StrCat(spec.name(), ": ",
                                          std::string(status.message()), "\n",
                                          drawn.ToString()));
}

class DefaultSchedulesTest
    : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(DefaultSchedulesTest, ScalarTierEqualsTheReference) {
  const auto [family, part] = GetParam();
  int failures = 0;
  for (uint64_t seed = part; seed < kCases && failures < 3; seed += kParts) {
    const absl::Status status = RunCase(kFamilies[family], seed);
    if (status.ok()) continue;
    ++failures;
    ADD_FAILURE() << kFamilies[family].name << ", seed " << seed << ": "
                  << std::string(status.message());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Parts, DefaultSchedulesTest,
    ::testing::Combine(::testing::Range<int>(0, std::size(kFamilies)),
                       ::testing::Range(0, kParts)));

}  // namespace
}  // namespace tilewright::lowering
