// The sources of schedules besides the rules: --decisions=FILE, then the
// records of --records=DB, with --nearest those of the nearest shape.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_SCHEDULE_SOURCES_H_
#define TILEWRIGHT_TOOLS_COMMANDS_SCHEDULE_SOURCES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/decision_file.h"
#include "compiler/kernels/schedule_source.h"
#include "compiler/records/nearest_source.h"
#include "compiler/records/record_source.h"
#include "measure/record/store.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

class ScheduleSources : public ScheduleSource {
 public:
  // Null without any of these flags. Errors of reading the file or opening the
  // store, which must be there.
  static absl::StatusOr<std::unique_ptr<ScheduleSources>> From(
      const CommandLine& line);

  absl::StatusOr<std::optional<SourcedPlan>> FindPlan(
      const std::string& model, const PlanOptions& options,
      const DeviceSpec& spec) override;
  absl::StatusOr<std::optional<SourcedSchedule>> Find(
      const sketch::Workload& workload, const sketch::Generator& generator,
      const DeviceSpec& spec) override;
  std::vector<std::string> Notes() const override;

 private:
  ScheduleSources() = default;

  std::optional<DecisionFile> file_;
  std::unique_ptr<measure::Store> store_;
  std::optional<RecordSource> records_;
  std::optional<NearestSource> nearest_;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_SCHEDULE_SOURCES_H_
