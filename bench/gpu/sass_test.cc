// Texts whose instructions are known, and what is read from their machine code.
#include "bench/gpu/sass.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/gpu_text/function_code.h"
#include "base/status_matchers.h"
#include "bench/gpu/instruction_mix.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

// Steps of one load of 4 bytes, one of 16, and 4 * kRows multiply-adds; `work`
// stands behind the loop.
std::string Text(const std::string& work) {
  return absl::StrCat(R"(
extern "C" __global__ void __launch_bounds__(64)
k(const float* in, float* out, int n) {
  __shared__ __align__(16) float s[2048];
  for (int i = threadIdx.x; i < 2048; i += 64) s[i] = in[i];
  __syncthreads();
  float sum[4] = {0, 0, 0, 0};
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const float a = s[i * 5 + threadIdx.x];
    const float4 b = *(const float4*)(s + i * 64 + threadIdx.x * 4);
    sum[0] = __fmaf_rn(a, b.x, sum[0]);
    sum[1] = __fmaf_rn(a, b.y, sum[1]);
    sum[2] = __fmaf_rn(a, b.z, sum[2]);
    sum[3] = __fmaf_rn(a, b.w, sum[3]);
  }
)",
                      work, R"(
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = sum[i];
})");
}

class SassTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Nvrtc>> nvrtc = Nvrtc::Open();
    if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status();
    nvrtc_ = *std::move(nvrtc);
  }
  // The function's machine code.
  std::string CodeOf(const std::string& text) {
    const std::string target = absl::StrCat("sm_", GetParam());
    const absl::StatusOr<Cubin> cubin =
        nvrtc_->Compile(text, "k", GetParam() == 90 ? target + "a" : target);
    EXPECT_TRUE(cubin.ok()) << cubin.status();
    return std::string(gpu_text::FunctionCode(cubin->bytes)["k"]);
  }
  std::vector<DecodedInstruction> DecodedOf(const std::string& text) {
    const auto decoded = DecodeSass(CodeOf(text), GetParam());
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    return decoded.ok() ? *decoded : std::vector<DecodedInstruction>();
  }
  std::unique_ptr<Nvrtc> nvrtc_;
};

TEST_P(SassTest, TheLoopOfAProduct) {
  const InstructionMix mix = HotMix(DecodedOf(Text("")));
  EXPECT_EQ(mix.fma, 4);
  EXPECT_EQ(mix.shared_loads, 2);
  EXPECT_EQ(mix.narrow_shared_loads, 1);
  EXPECT_EQ(mix.local, 0);
  // Those, a counter, two addresses, a comparison, a jump.
  EXPECT_GE(mix.all, 4 + 2 + 2);
  EXPECT_LE(mix.all, 4 + 2 + 7);
}

TEST_P(SassTest, MultiplyAddsOutsideOfLoops) {
  const std::vector<DecodedInstruction> code = DecodedOf(Text(R"(
  for (int i = 0; i < 32; ++i) sum[i % 4] = __fmaf_rn(sum[i % 4], 3, sum[0]);
)"));
  EXPECT_EQ(MixOf(code).fma, 4 + 32);
  EXPECT_EQ(HotMix(code).fma, 36);
}

TEST_P(SassTest, MemoryOfAThread) {
  const std::vector<DecodedInstruction> code = DecodedOf(R"(
extern "C" __global__ void k(const int* in, float* out) {
  float own[64];
  for (int i = 0; i < 64; ++i) own[in[i] & 63] = i;
  out[threadIdx.x] = own[in[threadIdx.x] & 63];
})");
  EXPECT_GT(MixOf(code).local, 0);
  EXPECT_EQ(MixOf(DecodedOf(Text(""))).local, 0);
}

TEST_P(SassTest, CodeThatIsNoneOfThisArchitecture) {
  std::string code = CodeOf(Text(""));
  const int other = GetParam() == 90 ? 80 : 90;
  EXPECT_FALSE(DecodeSass(code, other).ok());
  code.resize(code.size() - 8);
  EXPECT_FALSE(DecodeSass(code, GetParam()).ok());
  EXPECT_FALSE(DecodeSass("", GetParam()).ok());
  EXPECT_FALSE(DecodeSass(std::string(160, '\0'), GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(All, SassTest, ::testing::Values(75, 80, 90));

}  // namespace
}  // namespace tilewright::cuda
