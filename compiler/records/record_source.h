// Schedules that records of measurements found better than the rules'
// (record_choice.h).
#ifndef TILEWRIGHT_COMPILER_RECORDS_RECORD_SOURCE_H_
#define TILEWRIGHT_COMPILER_RECORDS_RECORD_SOURCE_H_

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/schedule_source.h"
#include "measure/record/store.h"

namespace tilewright {

class RecordSource : public ScheduleSource {
 public:
  // `store` must outlive it; `name` stands in notes. What a record gives does
  // not depend on where it is kept.
  RecordSource(measure::Store& store, std::string name)
      : store_(store), name_(std::move(name)) {}

  // Errors are those of reading the store.
  absl::StatusOr<std::optional<SourcedSchedule>> Find(
      const sketch::Workload& workload, const sketch::Generator& generator,
      const DeviceSpec& spec) override;

  // Why records of compiled workloads were passed over.
  std::vector<std::string> Notes() const override {
    return {notes_.begin(), notes_.end()};
  }

 private:
  measure::Store& store_;
  const std::string name_;
  std::set<std::string> notes_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_RECORDS_RECORD_SOURCE_H_
