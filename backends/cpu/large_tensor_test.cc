// A tensor of more than 2^31 bytes: offsets are no 32-bit numbers anywhere.
// By hand: it needs 5 GB of memory and some seconds.
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/lowering/tile/lower.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::cpu {
namespace {

constexpr int64_t kRows = 33000, kColumns = 16500;  // 2.2 GB of fp32
constexpr int64_t kNeededBytes = int64_t{5} << 30;

int64_t AvailableBytes() {
  return static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) *
         sysconf(_SC_PAGESIZE);
}

TEST(LargeTensorTest, IsTransposedWhole) {
  static_assert(kRows * kColumns * 4 > int64_t{1} << 31);
  if (AvailableBytes() < kNeededBytes)
    GTEST_SKIP() << AvailableBytes() << " bytes of memory are free, of "
                 << kNeededBytes;
  TW_ASSERT_OK_AND_ASSIGN(
      const sketch::Workload workload,
      sketch::ParseWorkload("X: i32[33000, 16500] = placeholder\n"
                            "Y: i32[16500, 33000] = compute (i: 16500, "
                            "j: 33000) { X[j, i] }\n"
                            "return Y\n"));
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice({}));
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(device->spec()));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Schedule schedule,
                          sketch::DefaultSchedule(workload, device->spec()));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::BlockTree tree,
                          sketch::Replay(workload, schedule));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::Kernel tiles,
                          lowering::Lower(tree, "large"));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::ScalarKernel scalar,
                          codegen->Legalize(tiles));
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                          codegen->Emit({scalar}));
  TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                          device->LoadModule(module.bytes, module.target));
  TW_ASSERT_OK_AND_ASSIGN(const auto kernel,
                          device->GetKernel(*loaded, "large"));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<void*> args;
  for (int i = 0; i < 2; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(auto buffer,
                            device->Allocate(kRows * kColumns * 4));
    args.push_back(buffer->address());
    buffers.push_back(std::move(buffer));
  }
  auto* x = static_cast<int32_t*>(args[0]);
  for (int64_t i = 0; i < kRows * kColumns; ++i) x[i] = static_cast<int32_t>(i);
  TW_ASSERT_OK(
      stream->Launch(*kernel, args, scalar.num_tasks, scalar.scratch_bytes));
  TW_ASSERT_OK(stream->Synchronize());
  const auto* y = static_cast<const int32_t*>(args[1]);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kColumns; ++i) {
    for (int64_t j = 0; j < kRows; ++j)
      wrong += y[i * kRows + j] != static_cast<int32_t>(j * kColumns + i);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tilewright::cpu
