// The logic of gpu_check on the fake driver: the kernels are references on the
// host.
#include "tools/gpu/gpu_report.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/cuda/device/fake_image.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tools/gpu/check_kernels.h"
#include "tools/gpu/reference_kernels.h"

namespace tilewright::cuda {
namespace {

class GpuReportTest : public testing::Test {
 protected:
  void SetUp() override {
    FakeSymbol<FakeCudaSetHostKernel>("FakeCuda_SetHostKernel")(
        ReferenceKernel);
    CudaDeviceOptions options;
    options.driver_library = std::string("./") + kFakeDriver;
    options.use_profiler = false;
    auto device = CreateCudaDevice(options);
    TW_ASSERT_OK(device);
    device_ = *std::move(device);
    auto module =
        device_->LoadModule(FakeImage(FakesOfCheckKernels()), "cuda:sm_90");
    TW_ASSERT_OK(module);
    module_ = *std::move(module);
    reference_error = 0;
  }
  // The smaller ones of a family.
  std::vector<CheckKernel> Small(const std::string& family) {
    std::vector<CheckKernel> kernels;
    for (const CheckKernel& kernel : CheckKernels()) {
      if (kernel.family == family && kernel.bytes < 3e5 && kernel.flops < 1e6) {
        kernels.push_back(kernel);
      }
    }
    return kernels;
  }

  std::unique_ptr<CudaDevice> device_;
  std::unique_ptr<backends::DeviceModule> module_;
};

TEST_F(GpuReportTest, VerifiesAndTimesKernels) {
  for (const char* family : {"copy", "reduce", "gemm"}) {
    ASSERT_FALSE(Small(family).empty()) << family;
    for (const CheckKernel& kernel : Small(family)) {
      TW_ASSERT_OK_AND_ASSIGN(const KernelTimes times,
                              TimeKernel(device_.get(), *module_, kernel, 3));
      EXPECT_LE(times.error, 1) << kernel.name;
      EXPECT_GT(times.median_ns, 0);
      EXPECT_LE(times.min_ns, times.median_ns);
    }
  }
}

TEST_F(GpuReportTest, WrongResultsAreFound) {
  for (const char* family : {"copy", "reduce", "gemm"}) {
    for (const double wrong : {0.01, std::nan("")}) {
      reference_error = wrong;
      TW_ASSERT_OK_AND_ASSIGN(
          const KernelTimes times,
          TimeKernel(device_.get(), *module_, Small(family).front(), 1));
      EXPECT_GT(times.error, 1) << family;
    }
  }
}

TEST_F(GpuReportTest, SlowdownsAreAgainstAlone) {
  TW_ASSERT_OK_AND_ASSIGN(
      const auto slowdowns,
      SlowdownByDegree(device_.get(), *module_, Small("copy").front(),
                       {1, 2, 4}, 3));
  ASSERT_EQ(slowdowns.size(), 3u);
  EXPECT_EQ(slowdowns.at(1), 1);
  EXPECT_GT(slowdowns.at(4), 0);
}

TEST_F(GpuReportTest, EveryModeMeasuresEveryKernel) {
  const std::vector<CheckKernel> family = Small("copy");
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<ModeResult> results,
                          CompareModes(device_.get(), *module_, family, 4, 4));
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results.front().best_worse, 0);
  for (const ModeResult& result : results) {
    EXPECT_EQ(result.failed, 0) << result.mode;
    EXPECT_GT(result.seconds, 0);
    EXPECT_FALSE(result.best.empty());
  }
}

TEST_F(GpuReportTest, WrongCandidatesFailInEveryMode) {
  reference_error = 0.01;
  const std::vector<CheckKernel> family = {Small("copy").front(),
                                           Small("copy").back()};
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<ModeResult> results,
                          CompareModes(device_.get(), *module_, family, 2, 2));
  for (const ModeResult& result : results) EXPECT_EQ(result.failed, 2);
}

}  // namespace
}  // namespace tilewright::cuda
