#include "sketch/rules/decision_names.h"

#include <cstdint>

#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::sketch {
namespace {

constexpr uint64_t kTables = 100;

}  // namespace

std::set<std::string> DecisionNames(const Generator& generator,
                                    const Workload& workload,
                                    const DeviceSpec& spec) {
  std::set<std::string> names;
  const auto run = [&](DecisionPolicy& policy) {
    Decider decider(policy);
    // Also of a run that was refused in the end.
    (void)Generate(generator, workload, spec, decider);
    for (const Decision& decision : decider.decisions())
      names.insert(decision.name);
  };
  PreferredPolicy preferred;
  run(preferred);
  for (uint64_t seed = 0; seed < kTables; ++seed) {
    RandomPolicy random(seed);
    run(random);
  }
  return names;
}

}  // namespace tilewright::sketch
