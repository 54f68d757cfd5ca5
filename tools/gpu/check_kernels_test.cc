// The kernels that check GPUs: they compile, and their references are what they
// say.
#include "tools/gpu/check_kernels.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/cuda/nvrtc/nvrtc.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

using ::testing::HasSubstr;

TEST(CheckKernelsTest, AreFiftyOfThreeFamilies) {
  const std::vector<CheckKernel> kernels = CheckKernels();
  EXPECT_EQ(kernels.size(), 50u);
  std::set<std::string> names, families;
  const std::string text = CheckKernelsText();
  for (const CheckKernel& kernel : kernels) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    families.insert(kernel.family);
    EXPECT_THAT(text, HasSubstr("\n" + kernel.name + "("));
    EXPECT_GT(kernel.num_tasks, 0) << kernel.name;
    EXPECT_LE(kernel.scratch_bytes, 48 * 1024) << kernel.name;
  }
  EXPECT_EQ(families, (std::set<std::string>{"copy", "gemm", "reduce"}));
}

// Tasks cover the output exactly: a block of 256 threads writes its chunk, a
// row, or a tile.
TEST(CheckKernelsTest, ReferencesComputeWhatTheNamesSay) {
  for (const CheckKernel& kernel : CheckKernels()) {
    if (kernel.name == "gemm_64x64x64_t32_k16") {
      std::vector<std::vector<float>> inputs(2,
                                             std::vector<float>(64 * 64, 0.f));
      inputs[0][3 * 64 + 5] = 2;  // A[3, 5]
      inputs[1][5 * 64 + 7] = 4;  // B[5, 7]
      EXPECT_EQ(kernel.expected(inputs, 3 * 64 + 7), 8);
      EXPECT_EQ(kernel.expected(inputs, 3 * 64 + 8), 0);
      EXPECT_EQ(kernel.num_tasks, 4);
    }
    if (kernel.name == "reduce_16x100") {
      std::vector<std::vector<float>> inputs(1, std::vector<float>(1600, 0.5f));
      EXPECT_EQ(kernel.expected(inputs, 15), 50);
      EXPECT_EQ(kernel.num_tasks, 16);
    }
    if (kernel.family == "copy") EXPECT_EQ(kernel.tolerance, 0);
  }
}

class CheckKernelsOn : public testing::TestWithParam<const char*> {};

TEST_P(CheckKernelsOn, Compile) {
  const auto nvrtc = Nvrtc::Open();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  TW_ASSERT_OK_AND_ASSIGN(
      const Cubin cubin,
      (*nvrtc)->Compile(CheckKernelsText(), "check_kernels.cu", GetParam()));
  for (const CheckKernel& kernel : CheckKernels()) {
    EXPECT_THAT(cubin.bytes, HasSubstr(".text." + kernel.name));
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CheckKernelsOn,
                         testing::Values("sm_75", "sm_80", "sm_90a"));

}  // namespace
}  // namespace tilewright::cuda
