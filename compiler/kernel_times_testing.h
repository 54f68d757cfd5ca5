// Kernels and measurers for the tests of KernelTimes.
#ifndef TILEWRIGHT_COMPILER_KERNEL_TIMES_TESTING_H_
#define TILEWRIGHT_COMPILER_KERNEL_TIMES_TESTING_H_

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/host_spec.h"
#include "base/status_matchers.h"
#include "compiler/group_workload.h"
#include "compiler/kernel_maker.h"
#include "compiler/kernel_times.h"
#include "gtest/gtest.h"
#include "measure/measurer.h"
#include "measure/record.pb.h"
#include "measure/store.h"
#include "measure/test_records.h"
#include "sketch/schedule.h"
#include "sketch/schedule.pb.h"
#include "sketch/workload.h"

namespace tilewright {

inline measure::Measurement Took(double ns) {
  measure::Measurement measurement = measure::TestRecord("", ns).measurement();
  measurement.clear_verification();
  measurement.mutable_latency()->set_low_ns(ns);
  measurement.mutable_method()->set_cache(measure::Method::WARM);
  return measurement;
}

inline measure::Measurement Verified(double ns) {
  measure::Measurement measurement = Took(ns);
  measurement.mutable_verification()->set_verified(true);
  measurement.mutable_verification()->set_reference("the test");
  return measurement;
}

inline measure::Measurement Wrong(const std::string& message) {
  measure::Measurement measurement;
  measurement.set_outcome(measure::Measurement::WRONG_ANSWER);
  measurement.set_fault(measure::Measurement::CANDIDATE);
  measurement.set_message(message);
  return measurement;
}

inline measure::Measurement Failed(measure::Measurement::Fault fault,
                                   const std::string& message) {
  measure::Measurement measurement;
  measurement.set_outcome(measure::Measurement::RUN_ERROR);
  measurement.set_fault(fault);
  measurement.set_message(message);
  return measurement;
}

// Finds what the test says, candidate by candidate.
class FakeMeasurer : public measure::Measurer {
 public:
  explicit FakeMeasurer(std::function<measure::Measurement(int)> find)
      : find_(std::move(find)) {}

  int measured = 0;

 private:
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::WorkloadKey&,
      absl::Span<const sketch::ScheduleProto> schedules,
      const measure::MeasureOptions& options) override {
    std::vector<measure::Measurement> found;
    for (size_t i = 0; i < schedules.size(); ++i) {
      found.push_back(find_(measured++));
      if (options.on_result)
        options.on_result(static_cast<int>(i), found.back());
    }
    return found;
  }
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasureAlone(
      const measure::WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const measure::MeasureOptions& options) override {
    return DoMeasure(workload, schedules, options);
  }

  std::function<measure::Measurement(int)> find_;
};

class KernelTimesTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "/kernel_times", getpid(), ".db");
    for (const char* suffix : {"", "-wal", "-shm"})
      unlink((path_ + suffix).c_str());
    TW_ASSERT_OK_AND_ASSIGN(spec_, HostSpec());
    TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec_));
    KernelMaker maker(*codegen);
    for (const int size : {16, 32}) {
      GroupWorkload group;
      TW_ASSERT_OK_AND_ASSIGN(
          group.workload,
          sketch::ParseWorkload(absl::StrCat(
              "A: f32[", size, "] = placeholder\nY: f32[", size,
              "] = compute (i: ", size, ") { tanh(A[i]) }\nreturn Y\n")));
      TW_ASSERT_OK_AND_ASSIGN(const CompiledKernel kernel, maker.Make(group));
      kernels_.push_back(kernel);
    }
    // The first one, scheduled in another way.
    kernels_.push_back(kernels_[0]);
    kernels_.back().schedule.decisions.push_back({"another", "1"});
  }

  std::unique_ptr<measure::Store> Open(
      const measure::StoreOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<measure::Store>> store =
        measure::Store::Open(path_, options);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Without a verifier of its own, all kernels are right.
  KernelTimes Times(measure::Store* store, FakeMeasurer& measurer,
                    FakeMeasurer* verifier = nullptr) {
    if (verifier == nullptr) verifier = &all_right_;
    KernelTimesOptions options;
    options.store = store;
    options.measurer = [&measurer] { return &measurer; };
    options.verifier = [verifier] { return verifier; };
    return KernelTimes(spec_, options);
  }

  static std::vector<measure::Record> Records(measure::Store& store) {
    std::vector<measure::Record> records;
    TW_EXPECT_OK(store.ForEach({}, [&](const measure::Record& record) {
      records.push_back(record);
      return absl::OkStatus();
    }));
    return records;
  }

  DeviceSpec spec_;
  std::string path_;
  // 0 and 2 are of one workload.
  std::vector<CompiledKernel> kernels_;
  FakeMeasurer all_right_{[](int) { return Verified(7); }};
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNEL_TIMES_TESTING_H_
