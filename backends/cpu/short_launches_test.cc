// Launches that are said to be short stay on the launching thread.
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cpu/device/task_log.h"
#include "backends/cpu/micro_kernels.h"
#include "backends/device.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;

constexpr int64_t kTasks = 64;

// The pieces in which three threads run as many launches together as there are
// times.
absl::StatusOr<std::vector<TaskRecord>> Pieces(
    absl::Span<const double> one_thread_ns) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(spec));
  TW_ASSIGN_OR_RETURN(const auto module,
                      codegen->Emit({MakeEmptyTasks(kTasks)}));
  TaskLog log;
  CpuDeviceOptions options;
  options.num_threads = 3;
  options.task_log = &log;
  TW_ASSIGN_OR_RETURN(const auto device, CreateCpuDevice(options));
  TW_ASSIGN_OR_RETURN(const auto loaded,
                      device->LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(const auto kernel, device->GetKernel(*loaded, "empty"));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  std::vector<std::vector<float>> outputs;
  std::vector<std::vector<void*>> args;
  std::vector<backends::KernelLaunch> launches;
  for (const double ns : one_thread_ns) {
    args.push_back({outputs.emplace_back(kTasks).data()});
    launches.push_back({kernel.get(), args.back(), kTasks, 0, ns});
  }
  log.set_enabled(true);
  TW_RETURN_IF_ERROR(stream->LaunchTogether(launches));
  for (const std::vector<float>& output : outputs) EXPECT_THAT(output, Each(1));
  return log.Take();
}

auto Piece(int64_t begin, int64_t end) {
  return AllOf(Field(&TaskRecord::worker, 0),
               Field(&TaskRecord::task_begin, begin),
               Field(&TaskRecord::task_end, end));
}

TEST(ShortLaunchesTest, AreNotCut) {
  EXPECT_THAT(Pieces({500}), IsOkAndHolds(ElementsAre(Piece(0, kTasks))));
  EXPECT_THAT(Pieces({500, 700}),
              IsOkAndHolds(ElementsAre(Piece(0, kTasks), Piece(0, kTasks))));
}

TEST(ShortLaunchesTest, LongOnesAndThoseOfUnknownTimeAre) {
  for (const std::vector<double>& ns : std::vector<std::vector<double>>{
           {0}, {1e6}, {500, 1e6}, {500, 0}, {1900, 1900}}) {
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskRecord> pieces, Pieces(ns));
    EXPECT_GT(pieces.size(), ns.size());
    EXPECT_EQ(std::accumulate(pieces.begin(), pieces.end(), int64_t{0},
                              [](int64_t sum, const TaskRecord& piece) {
                                return sum + piece.task_end - piece.task_begin;
                              }),
              kTasks * static_cast<int64_t>(ns.size()));
  }
}

}  // namespace
}  // namespace tilewright::cpu
