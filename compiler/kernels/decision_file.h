// Decisions that a person wrote: what `inspect --what=decisions` prints,
// edited.
//
//   [77ab01...]                              # the model's fingerprint
//   channel.block = 16
//   [5e1f0c...]                              # a workload's fingerprint
//   tile = vectors 2, rows 12, outer_rows 1
//   task.rows = 4
//
// The rules make the decisions that a section leaves out.
#ifndef TILEWRIGHT_COMPILER_KERNELS_DECISION_FILE_H_
#define TILEWRIGHT_COMPILER_KERNELS_DECISION_FILE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/schedule_source.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

class DecisionFile : public ScheduleSource {
 public:
  // `name` stands in reports. InvalidArgument names the line that is neither a
  // section nor a decision, or that says something twice.
  static absl::StatusOr<DecisionFile> Parse(std::string name,
                                            std::string_view text);

  absl::StatusOr<std::optional<SourcedPlan>> FindPlan(
      const std::string& model, const PlanOptions& options,
      const DeviceSpec& spec) override;

  // InvalidArgument for a name that the workload's generator never asks for, a
  // value that is not in its space, or a schedule that the generator refuses.
  absl::StatusOr<std::optional<SourcedSchedule>> Find(
      const sketch::Workload& workload, const sketch::Generator& generator,
      const DeviceSpec& spec) override;

  // Decisions that were not asked for beside the others of their section, and
  // sections of workloads that were not compiled.
  std::vector<std::string> Notes() const override;

 private:
  DecisionFile(std::string name, std::map<std::string, Answers> sections)
      : name_(std::move(name)), sections_(std::move(sections)) {}

  std::string name_;
  std::map<std::string, Answers> sections_;  // by fingerprint
  std::set<std::string> used_;
  std::set<std::string> notes_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_DECISION_FILE_H_
