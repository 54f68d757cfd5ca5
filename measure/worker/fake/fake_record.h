// Records of what was measured on the fake device, for tests.
#ifndef TILEWRIGHT_MEASURE_WORKER_FAKE_FAKE_RECORD_H_
#define TILEWRIGHT_MEASURE_WORKER_FAKE_FAKE_RECORD_H_

#include "measure/record/record.pb.h"

namespace tilewright::fake {

measure::Record FakeRecord(const measure::WorkloadKey& workload,
                           const sketch::ScheduleProto& schedule,
                           const measure::Measurement& measurement);

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_MEASURE_WORKER_FAKE_FAKE_RECORD_H_
