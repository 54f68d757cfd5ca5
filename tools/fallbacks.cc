#include "tools/fallbacks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::tools {

std::string FallbackText(const KernelInfo& kernel) {
  if (kernel.refused().empty()) return "";
  return absl::StrCat("  fallback to schedule '", kernel.generator(),
                      "' after ", absl::StrJoin(kernel.refused(), "; "), "\n");
}

std::string FallbackText(const Program& program) {
  std::string out;
  for (const KernelInfo& kernel : program.kernels()) {
    if (kernel.refused().empty()) continue;
    absl::StrAppend(&out, "fallback ", kernel.name(), " (", kernel.label(),
                    ") to schedule '", kernel.generator(), "' after ",
                    absl::StrJoin(kernel.refused(), "; "), "\n");
  }
  for (const UnfusedGroup& group : program.unfused())
    absl::StrAppend(&out, "not fused ", group.computes(), ": ", group.why(),
                    "\n");
  return out;
}

void AppendFallbacks(const Program& program, Json& json) {
  json.Open('[');
  for (const KernelInfo& kernel : program.kernels()) {
    if (kernel.refused().empty()) continue;
    json.Open('{').Key("computes").Text(kernel.label());
    json.Key("kernel").Text(kernel.name());
    json.Key("generator").Text(kernel.generator()).Key("refused").Open('[');
    for (const std::string& why : kernel.refused()) json.Text(why);
    json.Close(']').Close('}');
  }
  for (const UnfusedGroup& apart : program.unfused()) {
    json.Open('{').Key("computes").Text(apart.computes());
    json.Key("generator").Text("apart").Key("refused").Open('[');
    json.Text(apart.why()).Close(']').Close('}');
  }
  json.Close(']');
}

}  // namespace tilewright::tools
