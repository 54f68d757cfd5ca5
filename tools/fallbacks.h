// The fallbacks of a compiled model, where schedules were refused: which
// kernels have a simpler one instead, and which groups are not fused for want
// of one.
#ifndef TILEWRIGHT_TOOLS_FALLBACKS_H_
#define TILEWRIGHT_TOOLS_FALLBACKS_H_

#include <string>

#include "runtime/format/program.pb.h"
#include "tools/page/json.h"

namespace tilewright::tools {

// A line for each; empty if every kernel has the schedule it was meant to have.
std::string FallbackText(const Program& program);
// Of these the groups left apart alone: a line for each reason.
std::string UnfusedText(const Program& program);
// The text for one kernel, indented; empty if it is no fallback.
std::string FallbackText(const KernelInfo& kernel);
// An array: {"computes", "kernel", "generator", "refused": [why]}; groups left
// apart have no kernel and the generator "apart".
void AppendFallbacks(const Program& program, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_FALLBACKS_H_
