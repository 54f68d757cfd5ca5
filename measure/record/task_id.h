// The identity of a piece of work: to measure one schedule of one workload on
// one class of devices. Whoever measures it, and whenever, it is the same task.
#ifndef TILEWRIGHT_MEASURE_RECORD_TASK_ID_H_
#define TILEWRIGHT_MEASURE_RECORD_TASK_ID_H_

#include <string>
#include <string_view>

#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::measure {

// Devices whose times stand for each other: one structure, one version of the
// code generation. "<structure fingerprint>.<code generation>".
std::string DeviceClass(const DeviceKey& device, const Versions& versions);

// Digest of the workload's text, of all decisions and instructions, of the
// device class, and of how operands are found if not warm: 32 hexadecimal
// digits, the same in every version. Not of the name of the generator, which
// decides nothing.
std::string TaskId(const WorkloadKey& workload,
                   const sketch::ScheduleProto& schedule,
                   std::string_view device_class,
                   Method::Cache cache = Method::WARM);

// The task that a record is the result of, whether it says so or not.
std::string TaskIdOf(const Record& record);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_TASK_ID_H_
