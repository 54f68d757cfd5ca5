// Chooses the record of a workload that is better than the rules' own schedule.
//
// Times alone do not tell: of many candidates the one that looks fastest was
// lucky. Only comparisons count, in which a schedule was interleaved with the
// rules' own, round by round (measure/parallel/interleaved_rounds.h), of equal
// code generation, device and method, and only verified ones. A schedule is
// better if it was faster alone by at least 1 % and beyond the noise, with all
// cores if it cuts the work into other tasks, and if the latest comparisons, of
// the kernel and of models that it was used in, with any number of threads, do
// not say beyond their noise that it is slower.
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
