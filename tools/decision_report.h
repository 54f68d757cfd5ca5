// What every kernel of a model decided, and what else it could be: text that
// --decisions takes, edited or not, and JSON.
#ifndef TILEWRIGHT_TOOLS_DECISION_REPORT_H_
#define TILEWRIGHT_TOOLS_DECISION_REPORT_H_

#include <string>

#include "compiler/compile.h"
#include "tools/json.h"

namespace tilewright::tools {

// A section a workload, in the order of the kernels; of one group's kernel if
// `group` is not negative.
std::string DecisionsText(const CompiledModel& compiled, int group);
void AppendDecisions(const CompiledModel& compiled, int group, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_DECISION_REPORT_H_
