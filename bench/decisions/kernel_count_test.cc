#include "bench/decisions/kernel_count.h"

#include <memory>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "bench/decisions/splits_generator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(KernelCountTest, CountsTablesKernelsAndRefusals) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec));
  const KernelCount count =
      CountKernels(SplitsWorkload(), SplitsGenerator(6), *codegen, 200, 1);
  EXPECT_EQ(count.draws, 200);
  EXPECT_DOUBLE_EQ(count.tables, 12);  // of 6 parts, `useless` or not
  EXPECT_EQ(count.distinct, 3);        // 1, 2 and 4 parts
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
