#include "measure/worker/loaded_candidate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/device.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/verify/hidden_bytes.h"
#include "measure/verify/packed_tensors.h"
#include "measure/worker/cpu/cpu_worker.h"
#include "measure/worker/worker_backend.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {
namespace {

using ::testing::Each;

constexpr int kElements = 64;
constexpr char kAddConstant[] = R"(A: f32[64] = placeholder
C: f32[64] = placeholder
Y: f32[64] = compute (i: 64) { A[i] + C[i] }
return Y
#constant C
)";

HiddenTensor Filled(float value) {
  HostTensor tensor(DType::kFloat32, {kElements});
  for (float& element : tensor.as<float>()) element = value;
  return HiddenTensor(tensor);
}

class LoadedCandidateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(workload_, sketch::ParseWorkload(kAddConstant));
    const WorkerBackend cpu = cpu::CpuWorker();
    TW_ASSERT_OK_AND_ASSIGN(device_, cpu.device("", /*threads=*/1));
    TW_ASSERT_OK_AND_ASSIGN(stream_, device_->CreateStream());
    TW_ASSERT_OK_AND_ASSIGN(const BuildFunction build, cpu.builder(""));
    TW_ASSERT_OK_AND_ASSIGN(
        const sketch::Schedule schedule,
        sketch::DefaultSchedule(workload_, device_->spec()));
    TW_ASSERT_OK_AND_ASSIGN(BuiltCandidate built,
                            build(workload_, schedule.ToProto()));
    TW_ASSERT_OK_AND_ASSIGN(
        loaded_, LoadedCandidate::Load(device_.get(), stream_.get(),
                                       workload_.graph, std::move(built)));
  }

  // Puts the arguments there: A is 10 everywhere, every copy of C is 1.
  void Place(int constant_copies) {
    TW_ASSERT_OK_AND_ASSIGN(
        memory_, device_->Allocate(loaded_->argument_bytes(constant_copies)));
    HiddenInputs inputs;
    for (const Tensor& tensor : workload_.graph.tensors()) {
      if (tensor.kind != TensorKind::kCompute)
        inputs.emplace(tensor.id, Filled(tensor.name == "A" ? 10 : 1));
    }
    PackedTensors packed(1 << 20);
    TW_ASSERT_OK(loaded_->Place(memory_->address(), constant_copies,
                                workload_.graph, inputs, packed));
  }

  // The CPU's buffers are its own memory: A and Y, then the copies of C.
  float* Others() { return static_cast<float*>(memory_->address()); }
  float* Copy(int copy) {
    char* const constants = reinterpret_cast<char*>(Others()) +
                            loaded_->argument_bytes(/*constant_copies=*/0);
    return reinterpret_cast<float*>(constants +
                                    copy * loaded_->constant_bytes());
  }

  sketch::Workload workload_;
  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::Stream> stream_;
  std::unique_ptr<backends::DeviceBuffer> memory_;
  std::unique_ptr<LoadedCandidate> loaded_;
};

TEST_F(LoadedCandidateTest, EveryLaunchReadsTheNextCopyOfTheConstants) {
  constexpr int kCopies = 3;
  Place(kCopies);
  for (int copy = 0; copy < kCopies; ++copy) {
    const std::vector<float> ones(Copy(copy), Copy(copy) + kElements);
    ASSERT_THAT(ones, Each(1.0f)) << "copy " << copy;
    std::fill_n(Copy(copy), kElements, static_cast<float>(copy));
  }
  // Which copy is the first says nobody; from then on they take turns.
  int first = -1;
  for (int launch = 0; launch < 2 * kCopies; ++launch) {
    TW_ASSERT_OK(loaded_->Launch());
    TW_ASSERT_OK(stream_->Synchronize());
    const std::vector<float> sums(Others() + kElements,
                                  Others() + 2 * kElements);
    if (launch == 0) first = static_cast<int>(sums[0]) - 10;
    EXPECT_THAT(sums, Each(10.0f + (first + launch) % kCopies));
  }
}

TEST_F(LoadedCandidateTest, WithOneCopyAllLaunchesReadTheSame) {
  Place(1);
  for (int launch = 0; launch < 2; ++launch) {
    TW_ASSERT_OK(loaded_->Launch());
    TW_ASSERT_OK(stream_->Synchronize());
    const std::vector<float> sums(Others() + kElements,
                                  Others() + 2 * kElements);
    EXPECT_THAT(sums, Each(11.0f));
  }
}

}  // namespace
}  // namespace tilewright::measure
