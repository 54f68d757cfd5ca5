// The decisions above groups and for every kernel of a model, with their
// alternatives: text that --decisions takes, edited or not, and JSON. Where a
// decision was left to lowering ("auto"), the result stands beside: "became 4",
// copies of a loop in a row, "became 14 lines", prefetches of one pass through
// the code, or "became no", whether stores go past the caches. Stages of a
// fused group have one kernel: there copies are those of the loops in it, by
// name, "became k 4".
#ifndef TILEWRIGHT_TOOLS_DECISION_REPORT_H_
#define TILEWRIGHT_TOOLS_DECISION_REPORT_H_

#include <string>

#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "tools/page/json.h"

namespace tilewright::tools {

// A section of the model and one a workload, in the order of the kernels; of
// one group's kernel alone if `group` is not negative.
std::string DecisionsText(const ImportedModel& model,
                          const CompiledModel& compiled, int group);
// Appends an object for the model, or an array for the kernels.
void AppendModelDecisions(const ImportedModel& model,
                          const CompiledModel& compiled, Json& json);
void AppendDecisions(const CompiledModel& compiled, int group, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_DECISION_REPORT_H_
