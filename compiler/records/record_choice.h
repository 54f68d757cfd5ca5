// Which of a workload's records is better than the rules' own schedule.
//
// Times compare only between records of equal code generation, device and
// method (threads, cache, timer), and only verified ones count. A schedule is
// better if the same store has the rules' own schedule of that workload,
// measured likewise, and it is at least 2 % faster. One that cuts the work into
// other tasks has to be faster with all cores (design: ir.md, "Records").
#ifndef TILEWRIGHT_COMPILER_RECORDS_RECORD_CHOICE_H_
#define TILEWRIGHT_COMPILER_RECORDS_RECORD_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/record/record.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright {

struct RecordChoice {
  sketch::Schedule schedule;
  double gain;  // 0.1: the rules' takes 10 % longer
};

// The fastest that replays; nullopt if none is better. `records`: of the
// workload and a device of this structure. Adds to `notes` why others were
// passed over.
std::optional<RecordChoice> ChooseRecord(
    const std::vector<measure::Record>& records,
    const sketch::Workload& workload, const sketch::Generator& generator,
    const DeviceSpec& spec, std::vector<std::string>& notes);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_RECORDS_RECORD_CHOICE_H_
