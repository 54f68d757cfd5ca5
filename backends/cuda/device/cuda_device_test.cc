// The device against a driver that exists in the host's memory alone.
#include "backends/cuda/device/cuda_device.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/device/cuda_error.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/cuda/device/fake_image.h"
#include "backends/spec/load_spec.h"
#include "base/ar_archive.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

using absl::StatusCode;
using backends::TimerMethod;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTarget[] = "cuda:sm_90a";

CudaDeviceOptions Options() {
  CudaDeviceOptions options;
  options.driver_library = std::string("./") + kFakeDriver;
  options.use_profiler = false;
  return options;
}

std::unique_ptr<CudaDevice> FakeDevice() {
  auto device = CreateCudaDevice(Options());
  TW_EXPECT_OK(device);
  return *std::move(device);
}

// A module with one built-in kernel, and that kernel.
struct Loaded {
  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> kernel;
};
Loaded Load(CudaDevice& device, const FakeKernel& kernel) {
  Loaded loaded;
  auto module = device.LoadModule(FakeImage({kernel}), kTarget);
  TW_EXPECT_OK(module);
  loaded.module = *std::move(module);
  auto found = device.GetKernel(*loaded.module, kernel.name);
  TW_EXPECT_OK(found);
  loaded.kernel = *std::move(found);
  return loaded;
}

// A module of a kernel each, as NVRTC's half of this backend makes them.
TEST(CudaDeviceTest, AnArchiveHasAKernelInEachMember) {
  const auto device = FakeDevice();
  const std::string adds = FakeImage({{"sum=fake_add", 3}});
  const std::string asserts = FakeImage({{"fails=fake_assert", 0}});
  const std::string archive =
      WriteArArchive({{"sum", adds}, {"fails", asserts}});
  TW_ASSERT_OK_AND_ASSIGN(const auto module,
                          device->LoadModule(archive, kTarget));
  for (const char* name : {"sum", "fails"})
    TW_EXPECT_OK(device->GetKernel(*module, name).status());
  EXPECT_THAT(device->GetKernel(*module, "product"),
              StatusIs(StatusCode::kNotFound, "'product'"));
  // A kernel is looked for in its own member alone.
  TW_ASSERT_OK_AND_ASSIGN(
      const auto swapped,
      device->LoadModule(WriteArArchive({{"fails", adds}}), kTarget));
  EXPECT_THAT(device->GetKernel(*swapped, "fails"),
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(device->LoadModule(WriteArArchive({{"sum", adds}, {"sum", adds}}),
                                 kTarget),
              StatusIs(StatusCode::kInvalidArgument, "two kernels 'sum'"));
  EXPECT_THAT(
      device->LoadModule(archive.substr(0, archive.size() - 9), kTarget),
      StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(device->LoadModule(WriteArArchive({{"sum", "text"}}), kTarget),
              StatusIs(StatusCode::kInvalidArgument));
}

TEST(CudaDeviceTest, AMissingDriverIsNamed) {
  CudaDeviceOptions options = Options();
  options.driver_library = "/nowhere/libcuda.so";
  EXPECT_THAT(CreateCudaDevice(options),
              StatusIs(StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("/nowhere/libcuda.so"),
                             HasSubstr("install the NVIDIA driver"))));
}

TEST(CudaDeviceTest, AMissingSymbolIsNamed) {
  CudaDeviceOptions options = Options();
  options.driver_library = "./backends/cuda/device/libold_cuda.so";
  EXPECT_THAT(
      CreateCudaDevice(options),
      StatusIs(StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("libold_cuda.so has no symbol cuGetErrorName"),
                     HasSubstr("newer"))));
}

TEST(CudaDeviceTest, RowsAreOneCommand) {
  const auto device = FakeDevice();
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(1000));
  const std::string rows(1000, 'x');
  const auto copy = [&](int64_t to_stride_bytes) {
    return stream->CopyRows(buffer->address(), to_stride_bytes, rows.data(), 10,
                            /*size_bytes=*/8, /*rows=*/100);
  };
  FailNext("cuMemcpy2DAsync_v2", 1);
  EXPECT_THAT(copy(10), Not(IsOk()));
  TW_EXPECT_OK(copy(10));
  // Rows that overlap are no pitch.
  FailNext("cuMemcpyAsync", 1);
  EXPECT_THAT(copy(4), Not(IsOk()));
  TW_EXPECT_OK(stream->Synchronize());
}

TEST(CudaDeviceTest, EveryFailureOfCreationIsReported) {
  for (const char* symbol :
       {"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
        "cuDriverGetVersion", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
        "cuDevicePrimaryCtxRetain"}) {
    FailNext(symbol, 100);
    EXPECT_THAT(CreateCudaDevice(Options()),
                StatusIs(StatusCode::kFailedPrecondition, "(100): a text"))
        << symbol;
  }
  CudaDeviceOptions second = Options();
  second.ordinal = 1;
  EXPECT_THAT(CreateCudaDevice(second),
              StatusIs(StatusCode::kFailedPrecondition,
                       "no CUDA device 1: this machine has 1"));
}

TEST(CudaDeviceTest, DescribesTheDeviceAsTheDriverDoes) {
  const auto device = FakeDevice();
  EXPECT_EQ(device->name(), "cuda:0");
  EXPECT_EQ(device->product(), "Fake GPU");
  EXPECT_EQ(device->driver_version(), "CUDA 13.0");
  EXPECT_FALSE(device->unified_memory());
  EXPECT_EQ(device->timer_method(), TimerMethod::kDeviceEvents);
  const DeviceSpec& spec = device->spec();
  TW_EXPECT_OK(ValidateSpec(spec));
  EXPECT_EQ(spec.name(), "cuda_sm_90");
  EXPECT_EQ(spec.target(), "cuda:sm_90a");
  EXPECT_EQ(spec.unit().cores(), 132);
  EXPECT_EQ(spec.unit().scratchpad_bytes_per_block(), 227 * 1024);
  // 132 SMs of 128 lanes at 1.98 GHz, two operations each: 66.9 TFLOP/s.
  EXPECT_NEAR(132 * CorePeak(spec, "f32", PeakRate::VECTOR), 66.9e12, 0.05e12);
  // 2 x 2.619 GHz x 5120 bits: 3.35 TB/s.
  EXPECT_NEAR(FindLevel(spec, "dram")->aggregate_read_bytes_per_s(), 3.352e12,
              0.001e12);
  EXPECT_EQ(FindLevel(spec, "l2")->capacity_bytes(), 50 << 20);
  EXPECT_EQ(FindLevel(spec, "shared")->instances(), 132);
  ASSERT_EQ(spec.levels_size(), 4);
  // Facts that the driver does not know come from the spec of an H100.
  EXPECT_EQ(spec.unit().register_allocation_unit(), 256);
  EXPECT_EQ(spec.unit().scratchpad_reserved_bytes(), 1024);
  EXPECT_TRUE(spec.unit().async_copy().bulk());
  EXPECT_NEAR(132 * CorePeak(spec, "bf16", PeakRate::MATRIX), 989.4e12, 2e12);
}

// What no driver tells is as in the spec of the target: the fake is an H100,
// and gets an H100's plans.
TEST(CudaDeviceTest, HasEveryRateOfTheSpecOfItsTarget) {
  const auto device = FakeDevice();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec h100, LoadSpec("h100"));
  constexpr double kClocks = 1e-3;  // relative: the datasheet's are rounded
  for (const MemoryLevel& level : h100.levels()) {
    const MemoryLevel& ours = *FindLevel(device->spec(), level.name());
    const auto expect_near = [&](double got, double want) {
      EXPECT_NEAR(got, want, kClocks * want) << level.name();
    };
    expect_near(ours.read_bytes_per_s(), level.read_bytes_per_s());
    expect_near(ours.write_bytes_per_s(), level.write_bytes_per_s());
    expect_near(ours.aggregate_read_bytes_per_s(),
                level.aggregate_read_bytes_per_s());
    expect_near(ours.aggregate_write_bytes_per_s(),
                level.aggregate_write_bytes_per_s());
    expect_near(ours.latency_ns(), level.latency_ns());
  }
  ASSERT_EQ(device->spec().unit().peaks_size(), h100.unit().peaks_size());
  for (int i = 0; i < h100.unit().peaks_size(); ++i) {
    const PeakRate& peak = h100.unit().peaks(i);
    const PeakRate& ours = device->spec().unit().peaks(i);
    EXPECT_EQ(ours.dtype(), peak.dtype());
    EXPECT_EQ(ours.unit(), peak.unit());
    EXPECT_NEAR(ours.core_ops_per_s(), peak.core_ops_per_s(),
                kClocks * peak.core_ops_per_s());
    EXPECT_NEAR(ours.latency_ns(), peak.latency_ns(),
                kClocks * peak.latency_ns());
  }
  EXPECT_EQ(device->spec().cost_model().kept_shared_share(),
            h100.cost_model().kept_shared_share());
}

TEST(CudaDeviceTest, ASpecThatIsGivenReplacesTheDriversAnswers) {
  CudaDeviceOptions options = Options();
  TW_ASSERT_OK_AND_ASSIGN(options.spec, LoadSpec("unit"));
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCudaDevice(options));
  EXPECT_EQ(device->spec().name(), "unit");
}

TEST(CudaDeviceTest, RunsKernelsOnCopiedData) {
  const auto device = FakeDevice();
  const Loaded add = Load(*device, {"fake_add", 3, 64});
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  const std::vector<float> a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
  const int64_t size = 16;
  TW_ASSERT_OK_AND_ASSIGN(const auto da, device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto db, device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto dc, device->Allocate(size));
  TW_ASSERT_OK(stream->Copy(da->address(), a.data(), size));
  TW_ASSERT_OK(stream->Copy(db->address(), b.data(), size));
  TW_ASSERT_OK(stream->Fill(dc->address(), 0, size));
  void* const args[] = {da->address(), db->address(), dc->address()};
  TW_ASSERT_OK(stream->Launch(*add.kernel, args, 3, 1000));
  std::vector<float> c(4);
  TW_ASSERT_OK(stream->Copy(c.data(), dc->address(), size));
  TW_ASSERT_OK(stream->Synchronize());
  EXPECT_EQ(c, (std::vector<float>{11, 22, 33, 0}));
  int blocks, threads, shared;
  FakeSymbol<FakeCudaLastLaunch>("FakeCuda_LastLaunch")(&blocks, &threads,
                                                        &shared);
  EXPECT_EQ(blocks, 3);
  EXPECT_EQ(threads, 64);
  EXPECT_EQ(shared, 1000);
}

TEST(CudaDeviceTest, AsksForMuchSharedMemoryAndRefusesTooMuch) {
  const auto device = FakeDevice();
  const Loaded add = Load(*device, {"fake_add", 3, 64});
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(64));
  void* const args[] = {buffer->address(), buffer->address(),
                        buffer->address()};
  TW_EXPECT_OK(stream->Launch(*add.kernel, args, 1, 100 * 1024));
  TW_EXPECT_OK(stream->Launch(*add.kernel, args, 1, 227 * 1024));
  EXPECT_THAT(stream->Launch(*add.kernel, args, 1, 228 * 1024),
              StatusIs(StatusCode::kResourceExhausted, "fake_add"));
  EXPECT_THAT(stream->Launch(*add.kernel, args, int64_t{1} << 31, 0),
              StatusIs(StatusCode::kInvalidArgument, "2147483647 blocks"));
  TW_EXPECT_OK(stream->Synchronize());
}

TEST(CudaDeviceTest, ModulesOfOtherDevicesAreRefused) {
  const auto device = FakeDevice();
  const std::string image = FakeImage({});
  EXPECT_THAT(device->LoadModule(image, "cpu:x86-64-v4"),
              StatusIs(StatusCode::kFailedPrecondition, "cuda:sm_90a"));
  EXPECT_THAT(device->LoadModule(image, "cuda:sm_80"),
              StatusIs(StatusCode::kFailedPrecondition, "sm_80"));
  EXPECT_THAT(device->LoadModule("PTX?", kTarget),
              StatusIs(StatusCode::kInvalidArgument, "neither"));
}

TEST(CudaDeviceTest, OrdinaryErrorsPass) {
  const auto device = FakeDevice();
  FailNext("cuMemAlloc_v2", 2);
  EXPECT_THAT(device->Allocate(100),
              StatusIs(StatusCode::kResourceExhausted,
                       "a buffer of 100 bytes: CUDA_ERROR_OUT_OF_MEMORY (2)"));
  TW_EXPECT_OK(device->Allocate(100));
  EXPECT_THAT(device->Allocate(-1), StatusIs(StatusCode::kInvalidArgument));
  for (const char* symbol : {"cuStreamCreate", "cuEventCreate"}) {
    FailNext(symbol, 2);
    EXPECT_THAT(device->CreateStream(),
                StatusIs(StatusCode::kResourceExhausted));
  }
  TW_EXPECT_OK(device->CreateStream());
}

TEST(CudaDeviceTest, AStickyErrorIsReturnedByAllThatFollows) {
  const auto device = FakeDevice();
  const Loaded fault = Load(*device, {"fake_fault", 0, 1});
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(64));
  TW_ASSERT_OK(stream->Launch(*fault.kernel, {}, 1, 0));
  const absl::Status first = stream->Synchronize();
  EXPECT_THAT(first, StatusIs(StatusCode::kAborted,
                              AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                                    HasSubstr("start another"))));
  EXPECT_TRUE(IsStickyDeviceError(first));
  EXPECT_EQ(device->Allocate(1).status(), first);
  EXPECT_EQ(device->LoadModule(FakeImage({}), kTarget).status(), first);
  EXPECT_EQ(device->GetKernel(*fault.module, "fake_fault").status(), first);
  EXPECT_EQ(device->CreateStream().status(), first);
  EXPECT_EQ(stream->Launch(*fault.kernel, {}, 1, 0), first);
  EXPECT_EQ(stream->Fill(buffer->address(), 0, 64), first);
  EXPECT_EQ(stream->Copy(buffer->address(), buffer->address(), 64), first);
  EXPECT_EQ(device->TimeNs(*stream, [] { return absl::OkStatus(); }).status(),
            first);
  Heal();
  // This device knows it for ever; another one does not.
  EXPECT_EQ(device->Allocate(1).status(), first);
  TW_EXPECT_OK(FakeDevice()->Allocate(1));
}

TEST(CudaDeviceTest, ErrorsAreConvertedByMeaning) {
  TW_ASSERT_OK_AND_ASSIGN(const auto api,
                          OpenDriver(std::string("./") + kFakeDriver));
  const auto code = [&](CuResult result) {
    return ToStatus(*api, result, "it").code();
  };
  TW_EXPECT_OK(ToStatus(*api, 0, "it"));
  EXPECT_EQ(code(1), StatusCode::kInternal);
  EXPECT_EQ(code(2), StatusCode::kResourceExhausted);
  EXPECT_EQ(code(100), StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(200), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(218), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(209), StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(500), StatusCode::kNotFound);
  EXPECT_EQ(code(701), StatusCode::kResourceExhausted);
  EXPECT_EQ(code(801), StatusCode::kUnimplemented);
  for (const CuResult kernels_fault : {700, 710, 715, 716, 719}) {
    EXPECT_EQ(code(kernels_fault), StatusCode::kAborted);
    EXPECT_TRUE(IsSticky(kernels_fault));
  }
  EXPECT_EQ(code(702), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(code(214), StatusCode::kUnavailable);
  for (const CuResult passing : {0, 1, 2, 100, 200, 209, 500, 701, 801}) {
    EXPECT_FALSE(IsSticky(passing));
    EXPECT_FALSE(IsStickyDeviceError(ToStatus(*api, passing, "it")));
  }
  EXPECT_THAT(ToStatus(*api, 998, "it"),
              StatusIs(StatusCode::kInternal, "does not know"));
}

TEST(CudaDeviceTest, EventsTimeTheStream) {
  const auto device = FakeDevice();
  const Loaded hang = Load(*device, {"fake_hang_ms", 1, 1});
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(4));
  const int milliseconds = 20;
  TW_ASSERT_OK(stream->Copy(buffer->address(), &milliseconds, 4));
  void* const args[] = {buffer->address()};
  TW_ASSERT_OK_AND_ASSIGN(const int64_t ns, device->TimeNs(*stream, [&] {
    return stream->Launch(*hang.kernel, args, 1, 0);
  }));
  EXPECT_GE(ns, 20'000'000);
}

TEST(CudaDeviceTest, CapturedWorkIsCheckedAsTheDriverDoes) {
  const auto device = FakeDevice();
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto other, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(64));
  char ordinary[64] = {};
  // Waiting, and memory that may be gone, are no part of a graph.
  for (const std::function<absl::Status()>& wrong :
       {std::function<absl::Status()>([&] { return stream->Synchronize(); }),
        std::function<absl::Status()>([&] { return stream->WaitFor(*other); }),
        std::function<absl::Status()>(
            [&] { return stream->Copy(buffer->address(), ordinary, 64); })}) {
    EXPECT_FALSE(stream->Capture(wrong).ok());
    EXPECT_FALSE(stream
                     ->Capture([&] {
                       (void)wrong();
                       return absl::OkStatus();
                     })
                     .ok());
    TW_EXPECT_OK(stream->Fill(buffer->address(), 0, 64));
    TW_EXPECT_OK(stream->Synchronize());
  }
  const auto fill = [&] { return stream->Fill(buffer->address(), 7, 64); };
  for (const char* symbol : {"cuStreamBeginCapture", "cuStreamEndCapture",
                             "cuGraphInstantiateWithFlags"}) {
    FailNext(symbol, 2);
    EXPECT_THAT(stream->Capture(fill), StatusIs(StatusCode::kResourceExhausted))
        << symbol;
  }
  TW_ASSERT_OK_AND_ASSIGN(const auto captured, stream->Capture(fill));
  FailNext("cuGraphLaunch", 2);
  EXPECT_THAT(stream->Replay(*captured),
              StatusIs(StatusCode::kResourceExhausted));
  TW_EXPECT_OK(stream->Replay(*captured));
  TW_EXPECT_OK(stream->Copy(ordinary, buffer->address(), 64));
  TW_EXPECT_OK(stream->Synchronize());
  EXPECT_EQ(ordinary[63], 7);
  FailNext("cuMemHostAlloc", 2);
  EXPECT_THAT(device->AllocateHost(100),
              StatusIs(StatusCode::kResourceExhausted, "pinned memory"));
}

// Comes last.
TEST(CudaDeviceTest, GivesEverythingBack) { EXPECT_EQ(LiveObjects(), 0); }

}  // namespace
}  // namespace tilewright::cuda
