// Texts whose instructions are known, and what is read from their machine code.
#include "bench/gpu/gcn.h"

#include <memory>
#include <string>
#include <vector>

#include "backends/gpu_text/function_code.h"
#include "backends/hip/hiprtc/hiprtc.h"
#include "base/status_matchers.h"
#include "bench/gpu/instruction_mix.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::hip {
namespace {

using ::testing::HasSubstr;

class GcnTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Hiprtc>> hiprtc = Hiprtc::Open();
    if (!hiprtc.ok()) GTEST_SKIP() << hiprtc.status();
    hiprtc_ = *std::move(hiprtc);
  }
  // The function's machine code.
  std::string CodeOf(const std::string& text) {
    const absl::StatusOr<std::string> object =
        hiprtc_->Compile(text, "k", GetParam());
    EXPECT_TRUE(object.ok()) << object.status();
    return object.ok() ? std::string(gpu_text::FunctionCode(*object)["k"]) : "";
  }
  std::vector<DecodedInstruction> DecodedOf(const std::string& text) {
    const auto decoded = DecodeGcn(CodeOf(text), GetParam());
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    return decoded.ok() ? *decoded : std::vector<DecodedInstruction>();
  }
  bool packs() const { return std::string(GetParam()) == "gfx90a"; }
  std::unique_ptr<Hiprtc> hiprtc_;
};

// Steps of one load of 4 bytes, one of 16, and four multiply-adds.
constexpr char kProduct[] = R"(
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
    sum[0] = __builtin_fmaf(a, b.x, sum[0]);
    sum[1] = __builtin_fmaf(a, b.y, sum[1]);
    sum[2] = __builtin_fmaf(a, b.z, sum[2]);
    sum[3] = __builtin_fmaf(a, b.w, sum[3]);
  }
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = sum[i];
})";

TEST_P(GcnTest, TheLoopOfAProduct) {
  const InstructionMix mix = HotMix(DecodedOf(kProduct));
  EXPECT_EQ(mix.fma, packs() ? 2 : 4);
  EXPECT_EQ(mix.packed_fma, packs() ? 2 : 0);
  EXPECT_EQ(mix.shared_loads, 2);
  EXPECT_EQ(mix.narrow_shared_loads, 1);
  EXPECT_EQ(mix.local, 0);
  // Those, a counter, two addresses and their moves, a comparison, a jump.
  EXPECT_GE(mix.all, mix.fma + 2 + 2);
  EXPECT_LE(mix.all, mix.fma + 2 + 9);
}

TEST_P(GcnTest, MultiplyAddsOutsideOfLoops) {
  const std::vector<DecodedInstruction> code = DecodedOf(R"(
extern "C" __global__ void __launch_bounds__(64)
k(const float* in, float* out) {
  float sum = in[threadIdx.x];
  for (int i = 0; i < 32; ++i) sum = __builtin_fmaf(sum, 3, sum);
  out[threadIdx.x] = sum;
})");
  EXPECT_EQ(MixOf(code).fma, 32);
  EXPECT_EQ(MixOf(code).packed_fma, 0);
  EXPECT_EQ(HotMix(code).fma, 32);
}

TEST_P(GcnTest, MemoryOfAThread) {
  const std::vector<DecodedInstruction> code = DecodedOf(R"(
extern "C" __global__ void k(const int* in, float* out) {
  float own[64];
  for (int i = 0; i < 64; ++i) own[in[i] & 63] = i;
  out[threadIdx.x] = own[in[threadIdx.x] & 63];
})");
  EXPECT_GE(MixOf(code).local, 64 + 1);
}

TEST_P(GcnTest, TwoLoadsOfEightBytesInOne) {
  const InstructionMix mix = MixOf(DecodedOf(R"(
extern "C" __global__ void __launch_bounds__(64) k(float* out) {
  __shared__ __align__(16) double s[256];
  s[threadIdx.x] = out[threadIdx.x];
  s[threadIdx.x + 64] = out[threadIdx.x + 64];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1] * s[(threadIdx.x ^ 1) + 64];
})"));
  EXPECT_EQ(mix.shared_loads, 1);
  EXPECT_EQ(mix.narrow_shared_loads, 0);
}

TEST_P(GcnTest, CodeThatIsNoneOfThisArchitecture) {
  std::string code = CodeOf(kProduct);
  EXPECT_THAT(DecodeGcn(code, "gfx000"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      DecodeGcn("", GetParam()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no program of")));
  EXPECT_FALSE(DecodeGcn(std::string(64, '\xff'), GetParam()).ok());
  // Its loop's jump leaves what is left of it.
  const size_t half = code.size() / 8 * 4;
  EXPECT_FALSE(DecodeGcn(code.substr(0, half), GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(All, GcnTest, ::testing::Values("gfx906", "gfx90a"));

}  // namespace
}  // namespace tilewright::hip
