// Threads of a block: shared scratch, barriers, exchanges of registers.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cts/cases.h"
#include "backends/cts/compare.h"
#include "backends/kernel_ir/testing/draw_threaded.h"
#include "backends/kernel_ir/testing/threaded_cases.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cts {
namespace {

// Reductions, a transpose and a product in tiles, each with barriers.
void ExpectThreadsWork(const Backend& backend) {
  std::vector<Run> runs;
  for (kernel_ir::ThreadedCase& test : kernel_ir::AllThreadedCases())
    runs.push_back({std::move(test.kernel), std::move(test.args)});
  ExpectSameAsInterpreter(backend, runs);
}

void ExpectDrawnThreadsWork(const Backend& backend) {
  std::vector<Run> runs;
  for (uint64_t seed = 1001; seed <= 1020; ++seed) {
    kernel_ir::DrawnThreaded drawn = kernel_ir::DrawThreaded(seed);
    runs.push_back({std::move(drawn.kernel), std::move(drawn.args)});
  }
  ExpectSameAsInterpreter(backend, runs);
}

// No backend runs the first thread and takes it for all.
void ExpectThreadsAreTakenOrRefused(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  const kernel_ir::ThreadedCase test = kernel_ir::ReadBack(32);
  const absl::StatusOr<backends::Module> module = codegen->Emit({test.kernel});
  if (module.ok()) return;
  EXPECT_THAT(module.status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       testing::AllOf(testing::HasSubstr(test.kernel.name),
                                      testing::HasSubstr("32 threads"))));
}

}  // namespace

std::vector<Case> ThreadCases() {
  return {
      {"ThreadsShareScratchAndExchangeRegisters", ExpectThreadsWork},
      {"RandomKernelsWithThreads", ExpectDrawnThreadsWork},
      {"ThreadsAreTakenOrRefused", ExpectThreadsAreTakenOrRefused},
  };
}

}  // namespace tilewright::cts
