#include "bench/decisions/kernel_count.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/workload.h"

namespace tilewright::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kMap[] = R"(X: f32[64] = placeholder
Y: f32[64] = compute (i: 64) { X[i] + 1 }
return Y
)";

// Of twelve tables those that leave no tail become kernels, which `useless`
// does not change.
sketch::Generator Splits() {
  return {"splits",
          [](const sketch::Workload&, const DeviceSpec&,
             Decider& decider) -> absl::StatusOr<sketch::Schedule> {
            const int64_t parts = decider.DecideNumber(
                "parts", Space::Integers(1, 6), [] { return 1; });
            decider.DecideWhether("useless", [] { return false; });
            if (64 % parts != 0)
              return absl::InvalidArgumentError(
                  absl::StrCat(parts, " parts leave a tail"));
            sketch::ScheduleWriter writer;
            writer.GroupTile({writer.Block("Y")}, {{parts, 64 / parts}});
            return std::move(writer).Finish();
          }};
}

TEST(KernelCountTest, CountsTablesKernelsAndRefusals) {
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(kMap));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec));
  const KernelCount count = CountKernels(workload, Splits(), *codegen, 200, 1);
  EXPECT_EQ(count.draws, 200);
  EXPECT_DOUBLE_EQ(count.tables, 12);
  EXPECT_EQ(count.distinct, 3);  // 1, 2 and 4 parts
  EXPECT_GT(count.kernels, 60);
  EXPECT_LT(count.kernels, 140);
  EXPECT_DOUBLE_EQ(count.Kernels(), 12.0 * 3 / 200);
  EXPECT_THAT(count.refusals,
              ElementsAre(Pair("generator: # parts leave a tail",
                               200 - count.kernels)));
  EXPECT_THAT(ToString(count), HasSubstr("12 tables; of 200 drawn"));
}

}  // namespace
}  // namespace tilewright::bench
