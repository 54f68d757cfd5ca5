// The fake device as measuring sees a backend.
#ifndef TILEWRIGHT_MEASURE_WORKER_FAKE_FAKE_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_FAKE_FAKE_WORKER_H_

#include <cstdint>
#include <string>

#include "backends/fake/device/fake_module.h"
#include "measure/worker/worker_backend.h"
#include "sketch/trace/schedule.pb.h"
#include "sketch/trace/workload.h"

namespace tilewright::fake {

enum class BuildFault : uint8_t { kNone, kError, kCrash, kHang };

// Its schedules say what its modules are.
struct FakeSchedule {
  FakeModule module;
  BuildFault build_fault = BuildFault::kNone;
  int64_t id = 0;  // makes two of them different

  sketch::ScheduleProto ToProto() const;
};

// y = factor x, over so many floats: what its modules compute.
sketch::Workload FakeWorkload(int64_t elements, int factor);

// "fake" has the host's memory and verifies in children of its workers;
// "fake_gpu" its own, and verifies in the worker itself. Options: the path
// FakeDeviceOptions::lost_while_exists.
measure::WorkerBackend FakeWorker();
measure::WorkerBackend FakeGpuWorker();

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_MEASURE_WORKER_FAKE_FAKE_WORKER_H_
