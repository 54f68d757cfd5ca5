// Random graphs under random legal schedules: what the kernel-IR interpreters
// compute is what the reference interpreter computes.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (2000 by
// default), TILEWRIGHT_RANDOM_SEED the first seed. A failure prints its seed;
// run one alone with TILEWRIGHT_RANDOM_CASES=1.
#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/passes/expand_functions.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/tile/lower.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

constexpr int kParts = 8;

struct Verified {
  int64_t elements = 0, exact = 0, unknown = 0;

  void Count(const ReferenceTensor& tensor) {
    const auto count =
        static_cast<int64_t>(tensor.value.size() + tensor.integer.size());
    elements += count;
    if (tensor.bound.empty()) exact += count;
    for (const double bound : tensor.bound) {
      exact += bound == 0;
      unknown += std::isinf(bound);
    }
  }
};

class RandomTest : public ::testing::TestWithParam<int> {};

// The arguments after a run.
absl::StatusOr<std::vector<std::string>> RunTile(
    const kernel_ir::Kernel& kernel, std::vector<std::string> args) {
  TW_RETURN_IF_ERROR(InterpretTileKernel(kernel, absl::MakeSpan(args)));
  return args;
}

// Every pass of Lower keeps every bit.
absl::Status CheckPasses(const RandomCase& drawn,
                         const std::vector<std::string>& want) {
  TW_ASSIGN_OR_RETURN(kernel_ir::Kernel kernel,
                      BuildTileKernel(drawn.tree, "k"));
  const std::pair<const char*, std::function<void()>> passes[] = {
      {"build", [] {}},
      {"simplify", [&] { SimplifyTileKernel(kernel); }},
      {"partition", [&] { PartitionTails(kernel, drawn.seed % 100); }}};
  for (const auto& [name, pass] : passes) {
    pass();
    absl::StatusOr<std::vector<std::string>> got = RunTile(kernel, drawn.args);
    if (got.ok() && *got == want) continue;
    return absl::InternalError(absl::StrCat(
        "after ", name, ": ",
        got.ok() ? "other bits" : std::string(got.status().message()), "\n",
        kernel.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> RunScalar(
    const kernel_ir::ScalarKernel& kernel, std::vector<std::string> args) {
  TW_RETURN_IF_ERROR(
      InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, kernel.num_tasks));
  return args;
}

// A machine drawn by seed: vectors of every width, boxes unrolled and looped
// over, with and without FMA.
VectorTarget DrawTarget(uint64_t seed) {
  Random random(seed);
  VectorTarget target;
  target.vector_bytes = 16 << random.Index(3);
  const int unrolled[] = {1, 4, 16, 64};
  target.max_unrolled_vectors = unrolled[random.Index(4)];
  target.fma = random.Bernoulli(0.5);
  target.unroll_reduce = random.Bernoulli(0.5) ? 4 : 1;
  return target;
}

// Registers hold f32 for these, which the tile tier rounds at every store.
bool HoldsHalvesInRegisters(const kernel_ir::Kernel& kernel) {
  return std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                     [](const kernel_ir::Buffer& b) {
                       return b.level == kernel_ir::Level::kRegisters &&
                              kernel_ir::RegisterType(b.dtype) != b.dtype;
                     });
}

// The scalar tier: right, the same bits as the tile tier where no FMA rounds
// less often and no lanes are joined as a tree, and right still without
// functions.
absl::Status CheckScalarTier(const RandomCase& drawn,
                             const std::vector<std::string>& tile_results) {
  const VectorTarget target = DrawTarget(drawn.seed);
  LegalizeReport report;
  absl::StatusOr<kernel_ir::ScalarKernel> kernel =
      Legalize(drawn.kernel, target, &report);
  TW_RETURN_IF_ERROR(kernel.status());
  absl::StatusOr<std::vector<std::string>> results =
      RunScalar(*kernel, drawn.args);
  absl::Status status =
      results.ok() ? CheckResults(drawn, *results) : results.status();
  if (status.ok() && !target.fma && report.lane_reductions == 0 &&
      !HoldsHalvesInRegisters(drawn.kernel) && *results != tile_results)
    status = absl::InternalError("other bits than the tile tier's");
  if (status.ok()) {
    ExpandFunctions(*kernel, {target.fma});
    results = RunScalar(*kernel, drawn.args);
    status = results.ok() ? CheckResults(drawn, *results) : results.status();
  }
  if (status.ok()) return status;
  return absl::InternalError(absl::StrCat(
      "vectors of ", target.vector_bytes, " bytes, ",
      target.max_unrolled_vectors, " unrolled, fma ", target.fma, ": ",
      std::string(status.message()), "\n", kernel->ToString()));
}

// Draws one case and runs it through both tiers.
absl::Status RunCase(uint64_t seed, Verified& verified) {
  TW_ASSIGN_OR_RETURN(const RandomCase drawn, DrawCase(seed));
  for (const auto& [id, tensor] : drawn.expected) verified.Count(tensor);
  absl::StatusOr<std::vector<std::string>> results =
      RunTile(drawn.kernel, drawn.args);
  absl::Status status =
      results.ok() ? CheckResults(drawn, *results) : results.status();
  if (status.ok() && seed % 4 < 2) status = CheckPasses(drawn, *results);
  if (!status.ok())
    return absl::InternalError(absl::StrCat(
        "tile tier: ", std::string(status.message()), "\n", drawn.ToString()));
  status = CheckScalarTier(drawn, *results);
  if (!status.ok())
    return absl::InternalError(
        absl::StrCat("scalar tier: ", std::string(status.message()), "\n",
                     drawn.ToString()));
  return absl::OkStatus();
}

// A failed check aborts: the seed must be known then too.
volatile int64_t running_seed = 0;
void PrintSeed(int) {
  std::fprintf(stderr, "aborted in seed %lld\n",
               static_cast<long long>(running_seed));
}

TEST_P(RandomTest, BothTiersEqualTheReference) {
  std::signal(SIGABRT, PrintSeed);
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 2000),
                first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  Verified verified;
  int failures = 0;
  for (int64_t i = GetParam(); i < cases && failures < 5; i += kParts) {
    running_seed = first + i;
    const absl::Status status = RunCase(first + i, verified);
    if (status.ok()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << first + i << ": "
                  << std::string(status.message());
  }
  // The verifier must be able to say something about nearly everything.
  if (cases >= 1000) {
    EXPECT_GT(verified.exact * 4, verified.elements);
    EXPECT_LT(verified.unknown * 50, verified.elements);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::lowering
