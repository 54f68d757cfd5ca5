// Norms whose variance follows their mean in one pass, as machine code: what
// the CPU computes is what the reference interpreter computes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/case_runner.h"
#include "backends/cpu/hard_inputs.h"
#include "backends/lowering/testing/random_case.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/norm_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::cpu {
namespace {

using lowering::RandomCase;
using sketch::InstanceNorm;
using sketch::LayerNorm;
using sketch::Workload;

// `steps`: of a block, along the outermost axis of a row.
absl::StatusOr<RandomCase> OnePassCase(Workload workload, int64_t steps,
                                       const DeviceSpec& spec, uint64_t seed) {
  RandomCase c;
  c.seed = seed;
  c.workload = std::move(workload);
  PreferredPolicy rest;
  TablePolicy policy({{"passes", "one"}, {"passes.block", absl::StrCat(steps)}},
                     rest);
  Decider decider(policy);
  TW_ASSIGN_OR_RETURN(c.schedule,
                      sketch::Generate(sketch::Generators(c.workload).front(),
                                       c.workload, spec, decider));
  if (!policy.Rounded().empty() || !policy.Unused().empty())
    return absl::InvalidArgumentError(c.workload.Text());
  const absl::Status status = lowering::PrepareCase(c, /*exact=*/false);
  if (!status.ok()) return status;
  return c;
}

TEST(OnePassKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  Random random(3);
  constexpr int64_t kWidths[] = {1, 2, 5, 16, 17, 31, 48, 49, 100};
  std::vector<RandomCase> batch;
  for (uint64_t seed = 0; seed < 48; ++seed) {
    const int64_t rows = random.UniformInt(1, 4),
                  elements = random.UniformInt(2, 700),
                  height = random.UniformInt(2, 9),
                  width = kWidths[random.Index(std::size(kWidths))];
    Workload workload = LayerNorm(rows, elements);
    int64_t steps = random.UniformInt(1, elements - 1);
    if (seed % 4 == 1 || seed % 4 == 2) {
      workload = InstanceNorm(rows, height, width, /*halves=*/seed % 4 == 2);
      steps = random.UniformInt(1, height - 1);
    } else if (seed % 4 == 3) {
      workload = MakeRows(sketch::RowFamily::kLogSoftmax, rows, elements);
    }
    absl::StatusOr<RandomCase> made =
        OnePassCase(std::move(workload), steps, runner->spec(), seed);
    ASSERT_TRUE(made.ok()) << seed << ": " << made.status();
    batch.push_back(*std::move(made));
  }
  const absl::Status status = runner->RunBatch(std::move(batch));
  ASSERT_TRUE(status.ok()) << status;
}

// Added to every element of the row whose mean is rounded most.
constexpr float kOffset = 4096;

// Gives a case of LayerNorm(8, elements) rows that are hard.
absl::Status SetHardRows(RandomCase& c, int64_t elements) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto set = [&](const std::string& name, float* values) {
    if (name != "X") return;
    const auto row = [&](int64_t r) { return values + r * elements; };
    std::fill_n(row(0), elements, 3.0F);
    std::fill_n(row(1), elements, 0.0F);
    row(2)[elements / 2] = std::numeric_limits<float>::quiet_NaN();
    row(3)[0] = kInf;
    row(4)[elements - 1] = -kInf;
    for (int64_t k = 0; k < elements; ++k)
      row(5)[k] = kOffset + static_cast<float>(k % 2);
    // Squares of the values overflow, those of differences do not.
    std::fill_n(row(6), elements, 0x1p80F);
    // Each block has another mean.
    for (int64_t k = 0; k < elements; ++k)
      row(7)[k] = static_cast<float>(k * k % 1000);
  };
  return SetInputs(c, set, [&](int64_t i, double value) {
    const double rounding = i / elements == 5 ? 4 * 0x1p-24 * kOffset : 1e-5;
    return rounding * (1 + std::abs(value));
  });
}

TEST(OnePassKernelsTest, AreRightForHardRows) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  constexpr int64_t kElements = 256;
  std::vector<RandomCase> batch;
  for (const int64_t block : {1, 7, 64, 100, 255}) {
    absl::StatusOr<RandomCase> made = OnePassCase(
        LayerNorm(8, kElements), block, runner->spec(), batch.size());
    ASSERT_TRUE(made.ok()) << block << ": " << made.status();
    const absl::Status set = SetHardRows(*made, kElements);
    ASSERT_TRUE(set.ok()) << set;
    batch.push_back(*std::move(made));
  }
  const absl::Status status = runner->RunBatch(std::move(batch));
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace tilewright::cpu
