#include "backends/cpu/device/cpu_device.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/device.h"
#include "backends/spec/cpu_features.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using ::testing::HasSubstr;

TEST(CpuDeviceTest, AHostWithoutAvx512RefusesItsModulesByName) {
  CpuDeviceOptions options;
  options.num_threads = 1;
  TW_ASSERT_OK_AND_ASSIGN(options.pretend_features,
                          CpuClassFeatures("x86-64-v3"));
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice(options));
  EXPECT_EQ(device->spec().target(), "cpu:x86-64-v3");
  EXPECT_THAT(device->LoadModule("", "cpu:x86-64-v4"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("lacks avx512bw, avx512cd")));
}

TEST(CpuDeviceTest, AModuleOfAnUnknownClassIsInvalid) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice());
  EXPECT_THAT(device->LoadModule("", "cpu:x86-64-v9"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no CPU feature class")));
}

TEST(CpuDeviceTest, ACpuOlderThanTheSmallestClassIsRefused) {
  CpuDeviceOptions options;
  options.pretend_features = {"sse3"};
  EXPECT_THAT(CreateCpuDevice(options),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("older than x86-64-v2")));
}

TEST(CpuDeviceTest, ThreadsAreOnePerCoreUnlessSaid) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice());
  EXPECT_EQ(device->num_threads(), device->spec().unit().cores());
  CpuDeviceOptions options;
  options.num_threads = 3;
  TW_ASSERT_OK_AND_ASSIGN(const auto three, CreateCpuDevice(options));
  EXPECT_EQ(three->num_threads(), 3);
  options.num_threads = -1;
  EXPECT_THAT(CreateCpuDevice(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
}

TEST(CpuDeviceTest, BuffersAreAlignedAndLargeOnesFailWithAStatus) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice());
  for (int64_t size : {0, 1, 63, 64, 65, 4 << 20}) {
    TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(size));
    EXPECT_EQ(buffer->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->address()) % 64, 0u);
  }
  EXPECT_THAT(device->Allocate(int64_t{1} << 60),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("")));
  EXPECT_THAT(device->Allocate(-1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
}

TEST(CpuDeviceTest, TheTimerIsThreadCpuTimeWithOneThread) {
  CpuDeviceOptions options;
  options.num_threads = 1;
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice(options));
  EXPECT_EQ(device->timer_method(), backends::TimerMethod::kThreadCpuTime);
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  std::vector<char> memory(1 << 20);
  TW_ASSERT_OK_AND_ASSIGN(const int64_t ns, device->TimeNs(*stream, [&] {
    return stream->Fill(memory.data(), 7, 1 << 20);
  }));
  EXPECT_GT(ns, 0);
  EXPECT_EQ(memory[12345], 7);
  EXPECT_THAT(
      device->TimeNs(*stream, [] { return absl::AbortedError("stop"); }),
      StatusIs(absl::StatusCode::kAborted, "stop"));
}

}  // namespace
}  // namespace tilewright::cpu
