// Denormal numbers in kernels: kept, or taken as zeros where that is asked for.
#include <pmmintrin.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using ::testing::Each;

constexpr int64_t kTasks = 64, kPerTask = 32;
constexpr float kDenormal = 0x1p-130f, kSmallest = 0x1p-126f;

// y[i] = x[i] * w[i], a part of it by each task.
kernel_ir::ScalarKernel Product() {
  constexpr int64_t kElements = kTasks * kPerTask;
  ScalarBuilder b("product", kTasks);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, kElements);
  const int w = b.AddArgument("w", DType::kFloat32, Role::kInput, kElements);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kElements);
  const Reg start = b.Mul(b.task(), b.Int(kPerTask));
  const Reg i = b.BeginFor(0, kPerTask, 4);
  const Reg at = b.Add(start, i);
  b.Store(y, at, 0, b.Mul(b.Load(x, at, 0, 4), b.Load(w, at, 0, 4)));
  b.EndFor();
  return std::move(b).Finish();
}

absl::StatusOr<std::vector<float>> Multiply(const CpuDeviceOptions& options,
                                            float x, float w) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(spec));
  TW_ASSIGN_OR_RETURN(const auto module, codegen->Emit({Product()}));
  TW_ASSIGN_OR_RETURN(const auto device, CreateCpuDevice(options));
  TW_ASSIGN_OR_RETURN(const auto loaded,
                      device->LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(const auto kernel, device->GetKernel(*loaded, "product"));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  std::vector<float> xs(kTasks * kPerTask, x), ws(kTasks * kPerTask, w),
      ys(kTasks * kPerTask, -1);
  void* const args[] = {xs.data(), ws.data(), ys.data()};
  TW_RETURN_IF_ERROR(stream->Launch(*kernel, args, kTasks, 0));
  return ys;
}

TEST(DenormalsTest, AreKept) {
  for (const int threads : {1, 3}) {
    EXPECT_THAT(Multiply({.num_threads = threads}, kDenormal, 2),
                IsOkAndHolds(Each(2 * kDenormal)));
    EXPECT_THAT(Multiply({.num_threads = threads}, kSmallest, 0.5f),
                IsOkAndHolds(Each(kSmallest / 2)));
  }
}

TEST(DenormalsTest, AreZerosOnEveryThreadWhereThatIsAskedFor) {
  CpuDeviceOptions options;
  options.flush_denormals = true;
  for (const int threads : {1, 3}) {
    options.num_threads = threads;
    EXPECT_THAT(Multiply(options, kDenormal, 0x1p20f), IsOkAndHolds(Each(0)));
    EXPECT_THAT(Multiply(options, kSmallest, 0.5f), IsOkAndHolds(Each(0)));
    EXPECT_THAT(Multiply(options, kSmallest, 2),
                IsOkAndHolds(Each(2 * kSmallest)));
  }
  options.scratch_guard = backends::GuardedBuffer::Side::kEnd;
  EXPECT_THAT(Multiply(options, kDenormal, 0x1p20f), IsOkAndHolds(Each(0)));
}

TEST(DenormalsTest, TheCallersModeStays) {
  CpuDeviceOptions options;
  options.num_threads = 1;
  options.flush_denormals = true;
  const unsigned before = _mm_getcsr();
  ASSERT_TRUE(Multiply(options, kDenormal, 2).ok());
  // Flags of what happened are no mode.
  EXPECT_EQ(_mm_getcsr() & ~_MM_EXCEPT_MASK, before & ~_MM_EXCEPT_MASK);
}

}  // namespace
}  // namespace tilewright::cpu
