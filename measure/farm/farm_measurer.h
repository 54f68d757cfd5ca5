// Several devices of this host as one measurer: DOPpler's G > 1. Each device
// has a thread, and a measurer of its own on it, so that REACT, calibrator and
// time limits know one device alone (parallel_measurer.h,
// process_pool_options.h); what is shared is the list of candidates that wait.
//
//   FarmDevice gpu0;
//   gpu0.start = [] { return StartMeasurer("gpu0", limits); };
//   TW_ASSIGN_OR_RETURN(auto farm, FarmMeasurer::Start({gpu0, gpu1}));
//   TW_ASSIGN_OR_RETURN(auto results, farm->Measure(workload, schedules));
//
// Devices that hosts far away have are reached through the tuning daemon, whose
// leases do the same between processes (measure/jobs).
#ifndef TILEWRIGHT_MEASURE_FARM_FARM_MEASURER_H_
#define TILEWRIGHT_MEASURE_FARM_FARM_MEASURER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"

namespace tilewright::measure {

struct FarmDevice {
  std::string name;  // for people
  // Called on the device's thread, which then uses the measurer and destroys
  // it.
  std::function<absl::StatusOr<std::unique_ptr<Measurer>>()> start;
  // It takes as many candidates at a time, if there are: a round of its own.
  int round = 8;
};

// A device that fails (an error of its measurer, a candidate whose fault is
// DEVICE) gets no more work; what it had goes to the others. A candidate that
// two devices were lost with is not tried on a third: DEVICE is its outcome.
// The last device's failure is the caller's, as without a farm. Functions of
// MeasureOptions are called on the caller's thread.
class FarmMeasurer : public Measurer {
 public:
  struct DeviceState {
    std::string name;
    absl::Status status;   // why it has no more work
    int64_t measured = 0;  // candidates
  };

  // Starts all. Unavailable, with every reason, if none works.
  static absl::StatusOr<std::unique_ptr<FarmMeasurer>> Start(
      std::vector<FarmDevice> devices);
  ~FarmMeasurer() override;
  FarmMeasurer(const FarmMeasurer&) = delete;
  FarmMeasurer& operator=(const FarmMeasurer&) = delete;

  std::vector<DeviceState> devices() const;

 protected:
  // What is measured alone is on the first device that works.
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const MeasureBatch& batch) override;

 private:
  struct Batch;
  struct Device {
    FarmDevice how;
    DeviceState state;
    bool started = false;
    bool busy = false;
    std::thread thread;
  };
  FarmMeasurer() = default;
  absl::StatusOr<std::vector<Measurement>> Run(Batch& batch);

  // On the device's thread.
  void Serve(Device& device);
  std::vector<int> Take(const Device& device);
  absl::Status MeasurePart(Device& device, Measurer& measurer,
                           const std::vector<int>& part);

  // With the lock held.
  int Working() const;
  const Device* FirstWorking() const;
  void HandleResult(Device& device, int index, const Measurement& measurement);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Device>> devices_;
  Batch* batch_ = nullptr;  // that is being measured
  bool stopped_ = false;
};

// A measurer that uses another one, which must outlive it.
std::unique_ptr<Measurer> Borrow(Measurer& measurer);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_FARM_FARM_MEASURER_H_
