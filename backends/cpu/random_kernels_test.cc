// Random graphs under random legal schedules, as machine code: what the CPU
// computes is what the reference interpreter computes, with every buffer ending
// or beginning at an inaccessible page.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (2000 by
// default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/guarded_buffer.h"
#include "backends/lowering/random_case.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using backends::GuardedBuffer;
using lowering::RandomCase;

constexpr int kParts = 8;
constexpr int64_t kKernelsPerModule = 25;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

class RandomKernelsTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    absl::StatusOr<DeviceSpec> spec = HostSpec();
    if (!spec.ok()) GTEST_SKIP() << spec.status();
    codegen_ = *CreateCpuCodegen(*spec);
    device_ = *CreateCpuDevice({.num_threads = 1});
    stream_ = *device_->CreateStream();
  }

  // Compiles the cases into one module and judges each.
  absl::Status RunBatch(std::vector<RandomCase> cases) {
    std::vector<kernel_ir::ScalarKernel> kernels;
    for (RandomCase& drawn : cases) {
      drawn.kernel.name = absl::StrCat("k", drawn.seed);
      TW_ASSIGN_OR_RETURN(kernel_ir::ScalarKernel kernel,
                          codegen_->Legalize(drawn.kernel));
      kernels.push_back(std::move(kernel));
    }
    TW_ASSIGN_OR_RETURN(const backends::Module module, codegen_->Emit(kernels));
    TW_ASSIGN_OR_RETURN(const auto loaded,
                        device_->LoadModule(module.bytes, module.target));
    for (size_t i = 0; i < cases.size(); ++i) {
      const absl::Status status = RunCase(cases[i], kernels[i], *loaded);
      if (!status.ok())
        return absl::Status(
            status.code(),
            absl::StrCat("seed ", cases[i].seed, ": ", status.message(), "\n",
                         cases[i].ToString()));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunCase(const RandomCase& drawn,
                       const kernel_ir::ScalarKernel& kernel,
                       const backends::DeviceModule& module) {
    TW_ASSIGN_OR_RETURN(const auto resolved,
                        device_->GetKernel(module, kernel.name));
    const auto side = drawn.seed % 4 < 2 ? GuardedBuffer::Side::kEnd
                                         : GuardedBuffer::Side::kBegin;
    std::vector<GuardedBuffer> buffers;
    std::vector<void*> addresses;
    for (const std::string& arg : drawn.args) {
      TW_ASSIGN_OR_RETURN(
          GuardedBuffer buffer,
          GuardedBuffer::Create(static_cast<int64_t>(arg.size()), side));
      std::copy(arg.begin(), arg.end(), buffer.data());
      addresses.push_back(buffer.data());
      buffers.push_back(std::move(buffer));
    }
    TW_RETURN_IF_ERROR(backends::TrapFaults([&] {
      return stream_->Launch(*resolved, addresses, kernel.num_tasks,
                             kernel.scratch_bytes);
    }));
    TW_RETURN_IF_ERROR(stream_->Synchronize());
    std::vector<std::string> results;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (!buffers[i].SlackIntact())
        return absl::OutOfRangeError(
            absl::StrCat("something was written beside argument ", i));
      results.emplace_back(buffers[i].data(), drawn.args[i].size());
    }
    return lowering::CheckResults(drawn, results);
  }

  std::unique_ptr<backends::Codegen> codegen_;
  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::Stream> stream_;
};

TEST_P(RandomKernelsTest, ComputeWhatTheReferenceComputes) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 2000);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  const int64_t begin = first + cases * GetParam() / kParts,
                end = first + cases * (GetParam() + 1) / kParts;
  for (int64_t seed = begin; seed < end;) {
    std::vector<RandomCase> batch;
    for (; seed < end && static_cast<int64_t>(batch.size()) < kKernelsPerModule;
         ++seed) {
      absl::StatusOr<RandomCase> drawn =
          lowering::DrawCase(static_cast<uint64_t>(seed));
      ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
      batch.push_back(*std::move(drawn));
    }
    const absl::Status status = RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomKernelsTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::cpu
