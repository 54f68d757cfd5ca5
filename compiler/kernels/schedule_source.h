// Sources of schedules besides the rules of their generators: a person's file,
// records of measurements.
#ifndef TILEWRIGHT_COMPILER_KERNELS_SCHEDULE_SOURCE_H_
#define TILEWRIGHT_COMPILER_KERNELS_SCHEDULE_SOURCE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct SourcedSchedule {
  sketch::Schedule schedule;
  DecisionTable decisions;  // empty of a trace that is taken as it is
  std::string source;       // for reports: "decisions.txt", "record ..."
  // Somebody wants this one: if there is no kernel of it, that is an error.
  // Otherwise the rules decide then.
  bool required = false;
};

// The decisions above groups (tilegraph/plan/plan_decisions.h).
struct SourcedPlan {
  PlanOptions options;
  DecisionTable decisions;
  std::string source;
};

class ScheduleSource {
 public:
  virtual ~ScheduleSource() = default;

  // The plan of the model with this fingerprint (ModelFingerprint, compile.h).
  // nullopt: nothing is known of it. An error ends the compilation.
  virtual absl::StatusOr<std::optional<SourcedPlan>> FindPlan(
      const std::string& /*model*/, const PlanOptions& /*options*/,
      const DeviceSpec& /*spec*/) {
    return std::nullopt;
  }

  // `generator`: the workload's first, of the rules. nullopt: nothing is known
  // of the workload. An error ends the compilation.
  virtual absl::StatusOr<std::optional<SourcedSchedule>> Find(
      const sketch::Workload& workload, const sketch::Generator& generator,
      const DeviceSpec& spec) = 0;

  // The records that were passed over and why, a line each.
  virtual std::vector<std::string> Notes() const = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_SCHEDULE_SOURCE_H_
