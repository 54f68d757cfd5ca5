// Kernels with threads as schedules make them: drawn ones, those of the
// generator "simt", and those of Ansor's rules. Their texts, checked, compute
// in both dialects what the scalar tier's interpreter computes, bit for bit,
// and both find the same mistakes in mutants.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (120 by
// default), TILEWRIGHT_RANDOM_SEED the first seed, TILEWRIGHT_MUTANTS the
// number of mutants (160). A failure prints its seed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/emulator/kernel_jobs.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/passes/expand_functions.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/testing/simt_case.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "base/check.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/simt/block_tile.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/workload.h"

namespace tilewright::emulator {
namespace {

using kernel_ir::ScalarKernel;
using lowering::RandomCase;

constexpr int kParts = 4;
constexpr size_t kMostText = 20000;  // longer ones take compilers seconds

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// As GPUs have it, or with other vectors and loops.
absl::StatusOr<ScalarKernel> Legalize(const RandomCase& drawn, uint64_t seed) {
  Random random(seed);
  if (random.Bernoulli(0.5))
    return lowering::LegalizeForGpuThread(drawn.kernel);
  lowering::VectorTarget target;
  target.vector_bytes = 8 << random.Index(3);
  const int unrolled[] = {1, 4, 64};
  target.max_unrolled_vectors = unrolled[random.Index(3)];
  target.fma = random.Bernoulli(0.5);
  target.unroll_reduce = random.Bernoulli(0.5) ? 4 : 1;
  TW_ASSIGN_OR_RETURN(ScalarKernel kernel,
                      lowering::Legalize(drawn.kernel, target));
  lowering::ExpandFunctions(kernel);
  return kernel;
}

absl::StatusOr<RandomCase> Draw(uint64_t seed) {
  if (seed % 6 == 0) return lowering::DrawGpuSketchCase(seed / 6);
  if (seed % 2 == 0) return lowering::DrawThreadedCase(seed);
  return lowering::DrawSimtCase(
      lowering::kSimtFamilies[seed / 2 % lowering::kSimtFamilies.size()], seed);
}

// Nothing if generator or lowering refuses, no loop has threads, or the text is
// long.
absl::StatusOr<std::optional<Job>> DrawJob(uint64_t seed) {
  absl::StatusOr<RandomCase> drawn = Draw(seed);
  const auto refused = [](const absl::Status& status) {
    return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
  };
  if (refused(drawn.status())) return std::nullopt;
  TW_RETURN_IF_ERROR(drawn.status());
  if (drawn->kernel.threads == 0) return std::nullopt;
  absl::StatusOr<ScalarKernel> kernel = Legalize(*drawn, seed);
  if (refused(kernel.status())) return std::nullopt;
  TW_RETURN_IF_ERROR(kernel.status());
  kernel->name = absl::StrCat("seed", seed);
  TW_ASSIGN_OR_RETURN(const std::string text, gpu_text::KernelText(*kernel));
  if (text.size() > kMostText) return std::nullopt;
  return Job{*std::move(kernel), std::move(drawn->args)};
}

bool Holds(const Job& job, const std::string& text) {
  return job.kernel.ToString().find(text) != std::string::npos;
}

class SchedulesTest : public ::testing::TestWithParam<int> {};

TEST_P(SchedulesTest, TextsComputeWhatTheInterpreterComputes) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 120),
                first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  int64_t ran = 0, barriers = 0, exchanges = 0, own_memory = 0, async = 0;
  int64_t seed = first + cases * GetParam() / kParts;
  const int64_t end = first + cases * (GetParam() + 1) / kParts;
  while (seed < end) {
    std::vector<Job> jobs;
    std::vector<Result> expected;
    for (; seed < end && jobs.size() < kKernelsPerModule; ++seed) {
      TW_ASSERT_OK_AND_ASSIGN(std::optional<Job> job,
                              DrawJob(static_cast<uint64_t>(seed)));
      if (!job) continue;
      expected.push_back(Interpret(*job));
      TW_ASSERT_OK(expected.back().status()) << job->kernel.ToString();
      barriers += Holds(*job, "barrier");
      exchanges += Holds(*job, "exchange");
      async += Holds(*job, "copy x");
      own_memory += std::any_of(
          job->kernel.buffers.begin(), job->kernel.buffers.end(),
          [](const kernel_ir::ScalarBuffer& b) { return b.per_thread; });
      jobs.push_back(*std::move(job));
    }
    for (const auto dialect :
         {gpu_text::Dialect::kCuda, gpu_text::Dialect::kHip}) {
      const std::vector<Result> results =
          Emulate(jobs, Options(dialect, /*checked=*/true));
      for (size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_EQ(Difference(jobs[i].kernel, results[i], expected[i]), "")
            << jobs[i].kernel.ToString();
      }
    }
    ran += static_cast<int64_t>(jobs.size());
  }
  std::cout << ran << " of " << cases / kParts << " cases ran, " << barriers
            << " with barriers, " << exchanges << " with exchanges, "
            << own_memory << " with memory of a thread's own, " << async
            << " with asynchronous copies\n";
  if (cases < 100) return;
  EXPECT_GT(ran * 2 * kParts, cases);
  EXPECT_GT(barriers, 0);
  EXPECT_GT(exchanges, 0);
}

// A product and a convolution with zeros around it, whose steps come into
// several buffers in scratch.
std::vector<Job> AsyncJobs() {
  std::vector<Job> jobs;
  for (int64_t buffers = 2; buffers <= 4; ++buffers) {
    sketch::BlockTile product, convolution;
    product.tile = {16, 16};
    product.threads = {4, 4};
    product.vector = 4;
    product.step = 4;
    convolution.tile = {1, 4, 4, 8};
    convolution.threads = {1, 2, 2, 4};
    convolution.step = 2;
    product.stages = convolution.stages = buffers;
    product.async = convolution.async = true;
    std::vector<std::pair<sketch::Workload, sketch::BlockTile>> cases = {
        {sketch::GemmRelu(16, 32, 28), product}};
    if (buffers == 2)
      cases.emplace_back(sketch::ConvPadRelu(10, 4, 6, 9, 3, 1, 1),
                         convolution);
    if (buffers == 3) cases.emplace_back(sketch::GemmRelu(18, 17, 23), product);
    for (const auto& [workload, tile] : cases) {
      absl::StatusOr<RandomCase> made =
          lowering::SimtCase(workload, tile, /*seed=*/1);
      TW_CHECK_OK(made);
      absl::StatusOr<ScalarKernel> kernel =
          lowering::LegalizeForGpuThread(made->kernel);
      TW_CHECK_OK(kernel);
      jobs.push_back({*std::move(kernel), std::move(made->args)});
    }
  }
  return jobs;
}

TEST(AsyncSchedulesTest, TextsOfEveryModuleComputeTheSame) {
  const std::vector<Job> jobs = AsyncJobs();
  for (const bool checked : {false, true}) {
    for (const auto dialect :
         {gpu_text::Dialect::kCuda, gpu_text::Dialect::kHip}) {
      const std::vector<Result> results =
          Emulate(jobs, Options(dialect, checked));
      for (size_t i = 0; i < jobs.size(); ++i) {
        EXPECT_TRUE(Holds(jobs[i], "copy x"));
        EXPECT_EQ(Difference(jobs[i].kernel, results[i], Interpret(jobs[i])),
                  "")
            << jobs[i].kernel.ToString();
      }
    }
  }
}

TEST_P(SchedulesTest, InterpreterAndCheckedTextsFindTheSameMistakes) {
  const int64_t count = FromEnvironment("TILEWRIGHT_MUTANTS", 160) / kParts;
  MutantTally tally;
  for (uint64_t seed = GetParam() + 1; tally.mutants < count; seed += kParts) {
    std::vector<Job> from;
    for (uint64_t i = 0; i < 4; ++i) {
      TW_ASSERT_OK_AND_ASSIGN(std::optional<Job> job, DrawJob(4 * seed + i));
      if (job) from.push_back(*std::move(job));
    }
    AddMutants(from, 15, seed, tally);
  }
  for (const std::string& disagreement : tally.disagreements)
    ADD_FAILURE() << disagreement;
  std::cout << tally.ToString();
  EXPECT_LE(tally.unmade * 20, tally.mutants);
  EXPECT_GT(tally.races, 0);
}

INSTANTIATE_TEST_SUITE_P(Parts, SchedulesTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::emulator
