// Schedules of workloads that have no records, by what the records of the
// nearest shape decided: the nearest workload of the same structure that has a
// schedule better than the rules' (record_choice.h) lends its table, every
// decision rounded to the space that it has here.
#ifndef TILEWRIGHT_COMPILER_RECORDS_NEAREST_SOURCE_H_
#define TILEWRIGHT_COMPILER_RECORDS_NEAREST_SOURCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/schedule_source.h"
#include "measure/record/store.h"
#include "tilegraph/decision/table.h"

namespace tilewright {

// A workload's text without its integers, and those.
struct Structure {
  std::string text;
  std::vector<int64_t> integers;
};
Structure StructureOf(std::string_view workload_text);

class NearestSource : public ScheduleSource {
 public:
  // `store` must outlive it.
  explicit NearestSource(measure::Store& store) : store_(store) {}

  // Errors are those of reading the store.
  absl::StatusOr<std::optional<SourcedSchedule>> Find(
      const sketch::Workload& workload, const sketch::Generator& generator,
      const DeviceSpec& spec) override;
  std::vector<std::string> Notes() const override { return {}; }

 private:
  struct Neighbour {
    std::string fingerprint;
    std::vector<int64_t> integers;
    Answers answers;
  };
  absl::Status ReadStore(const DeviceSpec& spec);

  measure::Store& store_;
  bool read_ = false;
  std::multimap<std::string, Neighbour> neighbours_;  // by structure
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_RECORDS_NEAREST_SOURCE_H_
