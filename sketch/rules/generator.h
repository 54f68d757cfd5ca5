// A generator writes schedules of a workload. Whatever it decides, it asks a
// Decider for by name: with the preferred policy it is a rule, with a random
// one it draws schedules, with a table it replays a record, a mutant or what a
// person wrote (design: ir.md, "Schedules and decisions").
#ifndef TILEWRIGHT_SKETCH_RULES_GENERATOR_H_
#define TILEWRIGHT_SKETCH_RULES_GENERATOR_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {

struct Generator {
  std::string name;  // "contraction", ..., "tasks", "plain"
  // InvalidArgument if it has no schedule for the workload, or none with these
  // answers.
  std::function<absl::StatusOr<Schedule>(const Workload&, const DeviceSpec&,
                                         Decider&)>
      write;
};

// Its schedule, with its name and what it decided beside the trace. Two runs
// with equal answers give equal schedules. REQUIRES: `decider` is new.
absl::StatusOr<Schedule> Generate(const Generator& generator,
                                  const Workload& workload,
                                  const DeviceSpec& spec, Decider& decider);

// With the answers that the generator prefers.
absl::StatusOr<Schedule> GeneratePreferred(const Generator& generator,
                                           const Workload& workload,
                                           const DeviceSpec& spec);

// With the answers that the generator prefers where `answers` have none, or the
// nearest there is in a space.
absl::StatusOr<Schedule> GenerateWith(const Generator& generator,
                                      const Workload& workload,
                                      const DeviceSpec& spec,
                                      const Answers& answers);

// The answers that reproduce the decisions beside a trace in its generator's
// next run.
Answers AnswersOf(const Schedule& schedule);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_GENERATOR_H_
