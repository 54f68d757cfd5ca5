#include "sketch/rules/generator.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::sketch {

absl::StatusOr<Schedule> Generate(const Generator& generator,
                                  const Workload& workload,
                                  const DeviceSpec& spec, Decider& decider) {
  TW_CHECK(decider.decisions().empty());
  TW_ASSIGN_OR_RETURN(Schedule schedule,
                      generator.write(workload, spec, decider));
  schedule.generator = generator.name;
  for (const Decision& decision : decider.decisions()) {
    schedule.decisions.push_back(
        {decision.name, decision.space.Print(decision.value)});
  }
  return schedule;
}

absl::StatusOr<Schedule> GeneratePreferred(const Generator& generator,
                                           const Workload& workload,
                                           const DeviceSpec& spec) {
  PreferredPolicy policy;
  Decider decider(policy);
  return Generate(generator, workload, spec, decider);
}

absl::StatusOr<Schedule> GenerateWith(const Generator& generator,
                                      const Workload& workload,
                                      const DeviceSpec& spec,
                                      const Answers& answers) {
  PreferredPolicy preferred;
  TablePolicy policy(answers, preferred);
  Decider decider(policy);
  return Generate(generator, workload, spec, decider);
}

Answers AnswersOf(const Schedule& schedule) {
  Answers answers;
  for (const NamedDecision& decision : schedule.decisions)
    answers.emplace(decision.name, decision.value);
  return answers;
}

}  // namespace tilewright::sketch
