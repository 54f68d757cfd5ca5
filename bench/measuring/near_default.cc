#include "bench/measuring/near_default.h"

#include "base/status_macros.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {

absl::StatusOr<sketch::Schedule> NearDefault(const sketch::Generator& generator,
                                             const sketch::Workload& workload,
                                             const DeviceSpec& spec,
                                             Random& random) {
  PreferredPolicy preferred;
  Decider rule(preferred);
  TW_RETURN_IF_ERROR(
      sketch::Generate(generator, workload, spec, rule).status());
  const int changes = 1 + static_cast<int>(random.Index(3));
  return sketch::GenerateWith(generator, workload, spec,
                              Mutate(rule.decisions(), changes, random));
}

absl::StatusOr<sketch::Schedule> NearDefault(const sketch::Workload& workload,
                                             const DeviceSpec& spec,
                                             Random& random) {
  return NearDefault(sketch::Generators(workload).front(), workload, spec,
                     random);
}

}  // namespace tilewright::bench
