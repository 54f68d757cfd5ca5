#include "backends/cuda/nvrtc/nvrtc.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/parallel_for.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NvrtcTest, AMissingLibraryIsNamed) {
  EXPECT_THAT(Nvrtc::Open("/nowhere/libnvrtc.so"),
              StatusIs(StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("/nowhere/libnvrtc.so"),
                             HasSubstr("CUDA toolkit"))));
}

TEST(NvrtcTest, ALibraryOfSomethingElseLacksSymbols) {
  EXPECT_THAT(
      Nvrtc::Open("libm.so.6"),
      StatusIs(StatusCode::kFailedPrecondition, HasSubstr("no symbol nvrtc")));
}

// The rest needs NVRTC.
class InstalledNvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    auto nvrtc = Nvrtc::Open();
    if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
    nvrtc_ = *std::move(nvrtc);
  }
  std::unique_ptr<Nvrtc> nvrtc_;
};

constexpr char kText[] =
    "extern \"C\" __global__ void __launch_bounds__(64) twice(float* x) {\n"
    "  x[blockIdx.x * 64 + threadIdx.x] *= 2;\n"
    "}\n";

TEST_F(InstalledNvrtcTest, CompilesTextToACubinWithTheKernel) {
  for (const char* architecture : {"sm_75", "sm_80", "sm_90a"}) {
    TW_ASSERT_OK_AND_ASSIGN(const Cubin cubin,
                            nvrtc_->Compile(kText, "twice.cu", architecture));
    EXPECT_EQ(cubin.bytes.substr(1, 3), "ELF");
    EXPECT_THAT(cubin.bytes, HasSubstr(".text.twice"));
    TW_ASSERT_OK_AND_ASSIGN(const Cubin again,
                            nvrtc_->Compile(kText, "twice.cu", architecture));
    EXPECT_EQ(again.bytes, cubin.bytes);
    EXPECT_GT(cubin.kernels.at("twice").registers, 0);
    EXPECT_EQ(cubin.kernels.at("twice").spill_store_bytes, 0);
  }
}

TEST_F(InstalledNvrtcTest, SeveralThreadsCompileAtTheSameTime) {
  TW_ASSERT_OK_AND_ASSIGN(const Cubin alone,
                          nvrtc_->Compile(kText, "twice.cu", "sm_80"));
  std::vector<absl::StatusOr<Cubin>> cubins(6, absl::UnknownError("not yet"));
  ParallelFor(6, 3, [&](int64_t i) {
    cubins[static_cast<size_t>(i)] =
        nvrtc_->Compile(kText, "twice.cu", "sm_80");
  });
  for (const absl::StatusOr<Cubin>& cubin : cubins) {
    TW_ASSERT_OK(cubin);
    EXPECT_EQ(cubin->bytes, alone.bytes);
  }
}

TEST_F(InstalledNvrtcTest, ErrorsNameTextArchitectureAndLine) {
  EXPECT_THAT(
      nvrtc_->Compile("__device__ int a;\n__device__ int b = nothing;\n",
                      "broken.cu", "sm_80"),
      StatusIs(StatusCode::kInvalidArgument,
               AllOf(HasSubstr("broken.cu for sm_80"),
                     HasSubstr("broken.cu(2)"), HasSubstr("nothing"))));
}

TEST_F(InstalledNvrtcTest, UnknownArchitecturesAreNamedBesideTheKnown) {
  ASSERT_FALSE(nvrtc_->architectures().empty());
  EXPECT_THAT(nvrtc_->Compile(kText, "twice.cu", "sm_52x"),
              StatusIs(StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("sm_52x"), HasSubstr("sm_80"))));
}

}  // namespace
}  // namespace tilewright::cuda
