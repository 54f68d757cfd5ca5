// Random graphs under random schedules with threads: the tile tier is right,
// and the scalar tier, with a register file for each thread and races looked
// for, computes the same bits where nothing rounds less often.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (1000 by
// default), TILEWRIGHT_RANDOM_SEED the first seed. A failure prints its seed;
// run one alone with TILEWRIGHT_RANDOM_CASES=1.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

constexpr int kParts = 8;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Counts over the cases.
struct Tally {
  int64_t cases = 0, threads = 0, refused = 0, barriers = 0, exchanges = 0,
          own_memory = 0, ahead = 0, copies = 0;
};

int64_t Count(const std::string& text, const std::string& what) {
  int64_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

VectorTarget DrawTarget(uint64_t seed) {
  Random random(seed);
  VectorTarget target;
  target.vector_bytes = 16;
  const int unrolled[] = {1, 4, 64};
  target.max_unrolled_vectors = unrolled[random.Index(3)];
  target.fma = random.Bernoulli(0.3);
  target.unroll_reduce = random.Bernoulli(0.5) ? 4 : 1;
  return target;
}

bool HoldsHalves(const kernel_ir::Kernel& kernel) {
  return std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                     [](const kernel_ir::Buffer& b) {
                       return b.level == kernel_ir::Level::kRegisters &&
                              kernel_ir::RegisterType(b.dtype) != b.dtype;
                     });
}

absl::Status With(const absl::Status& status, const std::string& more) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\n", more));
}

absl::Status RunCase(uint64_t seed, Tally& tally) {
  TW_ASSIGN_OR_RETURN(const RandomCase drawn, DrawThreadedCase(seed));
  ++tally.cases;
  if (drawn.kernel.threads == 0) return absl::OkStatus();
  ++tally.threads;
  std::vector<std::string> want = drawn.args;
  absl::Status status = InterpretTileKernel(drawn.kernel, absl::MakeSpan(want));
  if (status.ok()) status = CheckResults(drawn, want);
  if (!status.ok())
    return With(status, absl::StrCat("tile tier\n", drawn.ToString()));
  const VectorTarget target = DrawTarget(seed);
  LegalizeReport report;
  const absl::StatusOr<kernel_ir::ScalarKernel> scalar =
      Legalize(drawn.kernel, target, &report);
  if (scalar.status().code() == absl::StatusCode::kUnimplemented) {
    ++tally.refused;
    if (std::getenv("TILEWRIGHT_REASONS") != nullptr)
      std::cout << "refused " << seed << ": " << scalar.status() << "\n";
    return absl::OkStatus();
  }
  if (!scalar.ok()) return With(scalar.status(), drawn.ToString());
  const std::string text = scalar->ToString();
  tally.barriers += Count(text, "barrier");
  tally.exchanges += Count(text, "exchange");
  tally.ahead += report.copies_ahead > 0;
  tally.copies += Count(text, "copy x") > 0;
  tally.own_memory += std::any_of(
      scalar->buffers.begin(), scalar->buffers.end(),
      [](const kernel_ir::ScalarBuffer& b) { return b.per_thread; });
  std::vector<std::string> got = drawn.args;
  status =
      InterpretScalarKernel(*scalar, absl::MakeSpan(got), 0, scalar->num_tasks);
  if (status.ok()) status = CheckResults(drawn, got);
  if (status.ok() && !target.fma && report.lane_reductions == 0 &&
      !HoldsHalves(drawn.kernel) && got != want)
    status = absl::InternalError("other bits than the tile tier's");
  return status.ok() ? status
                     : With(status, absl::StrCat("scalar tier\n",
                                                 drawn.ToString(), text));
}

// A failed check aborts: the seed must be known then too.
volatile int64_t running_seed = 0;
void PrintSeed(int) {
  std::fprintf(stderr, "aborted in seed %lld\n",
               static_cast<long long>(running_seed));
}

class ThreadsRandomTest : public ::testing::TestWithParam<int> {};

TEST_P(ThreadsRandomTest, ThreadsComputeWhatTheirLoopsSay) {
  std::signal(SIGABRT, PrintSeed);
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 1000),
                first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  Tally tally;
  int failures = 0;
  for (int64_t i = GetParam(); i < cases && failures < 3; i += kParts) {
    running_seed = first + i;
    const absl::Status status =
        RunCase(static_cast<uint64_t>(first + i), tally);
    if (status.ok()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << first + i << ": " << status;
  }
  std::cout << tally.cases << " cases, " << tally.threads << " with threads, "
            << tally.refused << " refused, " << tally.barriers << " barriers, "
            << tally.exchanges << " exchanges, " << tally.own_memory
            << " with memory of a thread's own, " << tally.ahead
            << " with copies ahead of their step, " << tally.copies
            << " asynchronous\n";
  if (cases < 500) return;
  EXPECT_GT(tally.threads * 2, tally.cases);
  EXPECT_LT(tally.refused * 20, tally.threads);
  EXPECT_GT(tally.barriers, 0);
  EXPECT_GT(tally.exchanges, 0);
}

INSTANTIATE_TEST_SUITE_P(Parts, ThreadsRandomTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::lowering
