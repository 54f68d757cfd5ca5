#include "measure/worker/fake/fake_record.h"

#include <string>

namespace tilewright::fake {

measure::Record FakeRecord(const measure::WorkloadKey& workload,
                           const sketch::ScheduleProto& schedule,
                           const measure::Measurement& measurement) {
  measure::Record record;
  *record.mutable_workload() = workload;
  record.mutable_device()->set_spec("fake");
  record.mutable_device()->set_structure_fingerprint(std::string(32, '0'));
  *record.mutable_schedule() = schedule;
  *record.mutable_measurement() = measurement;
  record.set_unix_ns(1);
  return record;
}

}  // namespace tilewright::fake
