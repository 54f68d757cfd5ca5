#include "backends/fake/device/fake_device.h"

#include <signal.h>
#include <unistd.h>

#include <vector>

#include "backends/fake/device/fake_module.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::fake {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(FakeModuleTest, SurvivesTheWayThroughBytes) {
  FakeModule module;
  module.factor = 2.5;
  module.latency_ns = 123;
  module.fault = Fault::kCrash;
  module.signal = SIGILL;
  module.fault_at = 7;
  TW_ASSERT_OK_AND_ASSIGN(const FakeModule back,
                          FakeModule::FromBytes(module.ToBytes()));
  EXPECT_EQ(back.ToBytes(), module.ToBytes());
  EXPECT_EQ(back.signal, SIGILL);
  EXPECT_THAT(FakeModule::FromBytes("x").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "no fake module"));
}

// A kernel on a device, with x = {1, 2, 3}.
struct Loaded {
  std::unique_ptr<backends::Device> device;
  std::unique_ptr<backends::DeviceBuffer> x, y;
  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> kernel;
  std::unique_ptr<backends::Stream> stream;

  absl::Status Launch() {
    return stream->Launch(*kernel, {x->address(), y->address()}, 3, 0);
  }
  std::vector<float> Result() const {
    const float* const values = static_cast<const float*>(y->address());
    return {values, values + 3};
  }
};

Loaded Load(const FakeModule& module) {
  Loaded loaded;
  loaded.device = *CreateFakeDevice();
  loaded.x = *loaded.device->Allocate(12);
  loaded.y = *loaded.device->Allocate(12);
  loaded.module = *loaded.device->LoadModule(module.ToBytes(), kTarget);
  loaded.kernel = *loaded.device->GetKernel(*loaded.module, kKernelName);
  loaded.stream = *loaded.device->CreateStream();
  const float x[] = {1, 2, 3};
  TW_EXPECT_OK(loaded.stream->Copy(loaded.x->address(), x, sizeof x));
  return loaded;
}

TEST(FakeDeviceTest, Multiplies) {
  FakeModule module;
  module.factor = 2;
  Loaded loaded = Load(module);
  TW_ASSERT_OK(loaded.Launch());
  EXPECT_THAT(loaded.Result(), ElementsAre(2, 4, 6));
}

TEST(FakeDeviceTest, TakesVirtualTime) {
  FakeModule module;
  module.latency_ns = 1000000;
  Loaded loaded = Load(module);
  int outliers = 0;
  for (int i = 0; i < 1000; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(
        const int64_t ns,
        loaded.device->TimeNs(*loaded.stream, [&] { return loaded.Launch(); }));
    outliers += ns == 3000000;
    if (ns != 3000000) EXPECT_NEAR(static_cast<double>(ns), 1e6, 3e4);
  }
  EXPECT_GT(outliers, 0);
  EXPECT_LT(outliers, 30);
}

TEST(FakeDeviceTest, WrongResultsComeWhenTheyAreToldTo) {
  FakeModule module;
  module.fault = Fault::kWrongResult;
  module.fault_at = 2;
  Loaded loaded = Load(module);
  TW_ASSERT_OK(loaded.Launch());
  EXPECT_THAT(loaded.Result(), ElementsAre(1, 2, 3));
  TW_ASSERT_OK(loaded.Launch());
  EXPECT_THAT(loaded.Result(), ElementsAre(1, 2, 4));
}

TEST(FakeDeviceTest, AStickyErrorIsWhatEveryLaterCallGets) {
  FakeModule module;
  module.fault = Fault::kStickyError;
  Loaded loaded = Load(module);
  TW_EXPECT_OK(loaded.stream->Synchronize());
  TW_EXPECT_OK(loaded.Launch());  // it is asynchronous
  const auto lost = StatusIs(absl::StatusCode::kUnavailable, "lost");
  EXPECT_THAT(loaded.stream->Synchronize(), lost);
  EXPECT_THAT(loaded.Launch(), lost);
  EXPECT_THAT(loaded.device->Allocate(1).status(), lost);
  EXPECT_THAT(loaded.device->CreateStream().status(), lost);
}

TEST(FakeDeviceTest, MemoryIsLimited) {
  FakeDeviceOptions options;
  options.memory_bytes = 1000;
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateFakeDevice(options));
  TW_ASSERT_OK_AND_ASSIGN(auto buffer, device->Allocate(900));
  EXPECT_THAT(device->Allocate(200).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "200 bytes"));
  buffer = nullptr;
  TW_EXPECT_OK(device->Allocate(200).status());
  FakeModule module;
  module.fault = Fault::kOutOfMemory;
  EXPECT_THAT(device->LoadModule(module.ToBytes(), kTarget).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "this module"));
}

TEST(FakeDeviceTest, RefusesWhatIsNotItsOwn) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateFakeDevice());
  EXPECT_THAT(device->LoadModule(FakeModule().ToBytes(), "cpu").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "'cpu'"));
  EXPECT_THAT(device->LoadModule("junk", kTarget).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "no fake module"));
  TW_ASSERT_OK_AND_ASSIGN(const auto module,
                          device->LoadModule(FakeModule().ToBytes(), kTarget));
  EXPECT_THAT(device->GetKernel(*module, "other").status(),
              StatusIs(absl::StatusCode::kNotFound, "'other'"));
}

TEST(FakeDeviceDeathTest, CrashesItsProcess) {
  FakeModule module;
  module.fault = Fault::kCrash;
  module.signal = SIGFPE;
  EXPECT_EXIT((void)Load(module).Launch(), testing::KilledBySignal(SIGFPE), "");
  module.signal = 0;
  EXPECT_EXIT((void)Load(module).Launch(), testing::ExitedWithCode(0), "");
}

TEST(FakeDeviceDeathTest, Hangs) {
  FakeModule module;
  module.fault = Fault::kHang;
  EXPECT_EXIT(
      {
        alarm(1);
        (void)Load(module).Launch();
      },
      testing::KilledBySignal(SIGALRM), "");
}

}  // namespace
}  // namespace tilewright::fake
