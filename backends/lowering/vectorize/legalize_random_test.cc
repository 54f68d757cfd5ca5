// Random graphs under random legal schedules: the scalar tier that Legalize
// makes, at every vector width, computes what the reference interpreter
// computes.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (2000 by
// default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

constexpr int kParts = 8;

absl::Status RunCase(uint64_t seed) {
  TW_ASSIGN_OR_RETURN(const RandomCase drawn, DrawCase(seed));
  VectorTarget target;
  const int widths[] = {64, 32, 16, 4};
  target.vector_bytes = widths[seed / 2 % 4];
  // A limit so low that many boxes are looped over and many register buffers
  // are demoted.
  if (seed / 8 % 3 == 0) target.max_unrolled_vectors = 6;
  target.fma = seed / 16 % 2 == 0;
  target.prefetch_above_bytes = seed / 32 % 2;
  LegalizeReport report;
  absl::StatusOr<kernel_ir::ScalarKernel> scalar =
      Legalize(drawn.kernel, target, &report);
  absl::Status status = scalar.status();
  std::vector<std::string> args = drawn.args;
  if (status.ok())
    status = InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                   scalar->num_tasks);
  if (status.ok()) status = CheckResults(drawn, args);
  if (status.ok()) return status;
  return absl::InternalError(absl::StrCat(
      target.vector_bytes, " bytes: ", std::string(status.message()), "\n",
      drawn.ToString(), "\n", scalar.ok() ? scalar->ToString() : ""));
}

class LegalizeRandomTest : public ::testing::TestWithParam<int> {};

TEST_P(LegalizeRandomTest, ScalarTierEqualsTheReference) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 2000),
                first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  int failures = 0;
  for (int64_t i = GetParam(); i < cases && failures < 5; i += kParts) {
    const absl::Status status = RunCase(first + i);
    if (status.ok()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << first + i << ": "
                  << std::string(status.message());
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, LegalizeRandomTest,
                         ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::lowering
