// Inspect's explanation of the kernels of a model for a GPU.
#ifndef TILEWRIGHT_TOOLS_PLAN_GPU_WHY_H_
#define TILEWRIGHT_TOOLS_PLAN_GPU_WHY_H_

#include <string>

#include "compiler/compile.h"

namespace tilewright::tools {

// For each group of the plan, or one of them: the blocks of its kernel, who
// wrote its schedule, what limits it and what the alternatives would take.
// REQUIRES: compiled.gpu; -1 or an index of a group.
std::string GpuWhyText(const CompiledModel& compiled, int only);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_GPU_WHY_H_
