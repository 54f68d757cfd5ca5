#include "backends/hip/hiprtc/hiprtc.h"

#include <memory>
#include <string>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::hip {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(HiprtcTest, AMissingLibraryIsNamed) {
  EXPECT_THAT(
      Hiprtc::Open("/nowhere/libhiprtc.so"),
      StatusIs(StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("/nowhere/libhiprtc.so"), HasSubstr("ROCm"))));
}

TEST(HiprtcTest, ALibraryOfSomethingElseLacksSymbols) {
  EXPECT_THAT(
      Hiprtc::Open("libm.so.6"),
      StatusIs(StatusCode::kFailedPrecondition, HasSubstr("no symbol hiprtc")));
}

// The rest needs HIPRTC.
class InstalledHiprtcTest : public testing::Test {
 protected:
  void SetUp() override {
    auto hiprtc = Hiprtc::Open();
    if (!hiprtc.ok()) GTEST_SKIP() << hiprtc.status().message();
    hiprtc_ = *std::move(hiprtc);
  }
  std::unique_ptr<Hiprtc> hiprtc_;
};

constexpr char kText[] =
    "extern \"C\" __global__ void __launch_bounds__(64) twice(float* x) {\n"
    "  x[blockIdx.x * 64 + threadIdx.x] *= 2;\n"
    "}\n";

TEST_F(InstalledHiprtcTest, CompilesTextToACodeObjectWithTheKernel) {
  for (const char* architecture : {"gfx906", "gfx90a"}) {
    TW_ASSERT_OK_AND_ASSIGN(const std::string code,
                            hiprtc_->Compile(kText, "twice.hip", architecture));
    EXPECT_EQ(code.substr(1, 3), "ELF");
    EXPECT_THAT(code, AllOf(HasSubstr("twice.kd"), HasSubstr(architecture)));
    EXPECT_THAT(hiprtc_->Compile(kText, "twice.hip", architecture),
                IsOkAndHolds(code));
  }
}

TEST_F(InstalledHiprtcTest, ErrorsNameTextArchitectureAndLine) {
  EXPECT_THAT(
      hiprtc_->Compile("__device__ int a;\n__device__ int b = nothing;\n",
                       "broken.hip", "gfx906"),
      StatusIs(StatusCode::kInvalidArgument,
               AllOf(HasSubstr("broken.hip for gfx906"), HasSubstr(":2:"),
                     HasSubstr("nothing"))));
}

// Whether it says so, or ends its process.
TEST_F(InstalledHiprtcTest, AnUnknownArchitectureIsAnErrorAndNoMore) {
  const absl::Status status =
      hiprtc_->Compile(kText, "twice.hip", "gfx000").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("gfx000"));
  TW_EXPECT_OK(hiprtc_->Compile(kText, "twice.hip", "gfx906").status());
}

}  // namespace
}  // namespace tilewright::hip
