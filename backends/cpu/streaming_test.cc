// Stores past the caches: the same values as any, wherever the buffer lies.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/passes/stream_stores.h"
#include "backends/spec/host_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

constexpr int64_t kTasks = 4, kPerTask = 256;
constexpr int64_t kElements = kTasks * kPerTask;

// y[i] = x[i] + x[i], a part of it by each task.
kernel_ir::ScalarKernel Doubling(int vector_bytes) {
  const int lanes = vector_bytes / 4;
  ScalarBuilder b("doubling", kTasks);
  const int x = b.AddArgument("x", DType::kInt32, Role::kInput, kElements);
  const int y = b.AddArgument("y", DType::kInt32, Role::kOutput, kElements);
  const Reg start = b.Mul(b.task(), b.Int(kPerTask));
  const Reg i = b.BeginFor(0, kPerTask, lanes);
  const Reg at = b.Add(start, i);
  const Reg value = b.Load(x, at, 0, lanes);
  b.Store(y, at, 0, b.Add(value, value));
  b.EndFor();
  kernel_ir::ScalarKernel kernel = std::move(b).Finish();
  lowering::StreamStores(kernel, {4 * kElements, vector_bytes});
  return kernel;
}

TEST(StreamingTest, GivesTheSameValuesWhereverBuffersLie) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(spec));
  const kernel_ir::ScalarKernel kernel =
      Doubling(static_cast<int>(spec.unit().vector_bytes()));
  TW_ASSERT_OK_AND_ASSIGN(const std::string source, codegen->Source(kernel));
  EXPECT_THAT(source, testing::HasSubstr("movnt"));
  EXPECT_THAT(source, testing::HasSubstr("sfence"));
  TW_ASSERT_OK_AND_ASSIGN(const auto module, codegen->Emit({kernel}));
  CpuDeviceOptions options;
  options.num_threads = 2;
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice(options));
  TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                          device->LoadModule(module.bytes, module.target));
  TW_ASSERT_OK_AND_ASSIGN(const auto function,
                          device->GetKernel(*loaded, kernel.name));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto memory,
                          device->Allocate(2 * 4 * (kElements + 64)));
  auto* const x = static_cast<int32_t*>(memory->address());
  for (int64_t i = 0; i < kElements; ++i) x[i] = static_cast<int32_t>(i);
  for (const int64_t shift : {0, 1, 16}) {  // elements
    int32_t* const y = x + kElements + shift;
    std::memset(y, 0, 4 * kElements);
    void* const args[] = {x, y};
    TW_ASSERT_OK(stream->Launch(*function, args, kTasks, 0));
    TW_ASSERT_OK(stream->Synchronize());
    for (int64_t i = 0; i < kElements; ++i)
      ASSERT_EQ(y[i], 2 * i) << "shifted by " << shift;
  }
}

}  // namespace
}  // namespace tilewright::cpu
