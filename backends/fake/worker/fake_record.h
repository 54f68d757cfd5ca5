// Records of what was measured on the fake device, for tests.
#ifndef TILEWRIGHT_BACKENDS_FAKE_WORKER_FAKE_RECORD_H_
#define TILEWRIGHT_BACKENDS_FAKE_WORKER_FAKE_RECORD_H_

#include "measure/record.pb.h"

namespace tilewright::fake {

measure::Record FakeRecord(const measure::WorkloadKey& workload,
                           const sketch::ScheduleProto& schedule,
                           const measure::Measurement& measurement);

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_BACKENDS_FAKE_WORKER_FAKE_RECORD_H_
