// Kernels and measurers for the tests of KernelTimes.
#ifndef TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_TESTING_H_
#define TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_TESTING_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/records/kernel_times.h"
#include "gtest/gtest.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright {

// Results of a measurer: a time, one that was verified too, a wrong answer, a
// failure that is somebody's fault.
measure::Measurement Took(double ns);
measure::Measurement Verified(double ns);
measure::Measurement Wrong(const std::string& message);
measure::Measurement Failed(measure::Measurement::Fault fault,
                            const std::string& message);

// Finds what the test says, candidate by candidate.
class FakeMeasurer : public measure::Measurer {
 public:
  explicit FakeMeasurer(std::function<measure::Measurement(int)> find)
      : find_(std::move(find)) {}

  int measured = 0;

 private:
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override {
    std::vector<measure::Measurement> found;
    for (size_t i = 0; i < batch.schedules.size(); ++i) {
      found.push_back(find_(measured++));
      if (batch.options.on_result)
        batch.options.on_result(static_cast<int>(i), found.back());
    }
    return found;
  }

  std::function<measure::Measurement(int)> find_;
};

class KernelTimesTest : public testing::Test {
 protected:
  void SetUp() override;

  std::unique_ptr<measure::Store> Open(
      const measure::StoreOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<measure::Store>> store =
        measure::Store::Open(path_, options);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Without a verifier of its own, all kernels are right.
  KernelTimes Times(measure::Store* store, FakeMeasurer& measurer,
                    FakeMeasurer* verifier = nullptr,
                    const std::string& maker = "") {
    if (verifier == nullptr) verifier = &all_right_;
    KernelTimesOptions options;
    options.store = store;
    options.maker = maker;
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

#endif  // TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_TESTING_H_
