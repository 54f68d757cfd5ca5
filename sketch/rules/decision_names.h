// Which decisions a generator asks for.
#ifndef TILEWRIGHT_SKETCH_RULES_DECISION_NAMES_H_
#define TILEWRIGHT_SKETCH_RULES_DECISION_NAMES_H_

#include <set>
#include <string>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Names of the decisions that `generator` takes for this workload, with the
// preferred answers and with a hundred random tables: a decision of one branch
// is among them if some table took that branch.
std::set<std::string> DecisionNames(const Generator& generator,
                                    const Workload& workload,
                                    const DeviceSpec& spec);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_DECISION_NAMES_H_
