#include "tools/decision_report.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "tilegraph/decision/table.h"

namespace tilewright::tools {
namespace {

std::string WorkloadFingerprint(const CompiledKernel& kernel) {
  return Fingerprint::Of(kernel.workload.workload.Text()).ToString();
}

bool IsShown(const CompiledModel& compiled, int group, size_t kernel) {
  return group < 0 ||
         compiled.kernel_of_group[group] == static_cast<int>(kernel);
}

}  // namespace

std::string DecisionsText(const CompiledModel& compiled, int group) {
  std::string out;
  std::set<std::string> printed;
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    if (!IsShown(compiled, group, k)) continue;
    const CompiledKernel& kernel = compiled.kernels[k];
    const std::string key = WorkloadFingerprint(kernel);
    // Kernels of one workload have one section.
    if (!printed.insert(key).second) continue;
    absl::StrAppend(&out, out.empty() ? "" : "\n", "# ", kernel.scalar.name,
                    ", ", kernel.generator, ", from ", kernel.source, ": ",
                    compiled.program.kernels(static_cast<int>(k)).label(),
                    "\n[", key, "]\n", ToString(kernel.decisions));
  }
  return out;
}

void AppendDecisions(const CompiledModel& compiled, int group, Json& json) {
  json.Open('[');
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    if (!IsShown(compiled, group, k)) continue;
    const CompiledKernel& kernel = compiled.kernels[k];
    json.Open('{').Key("kernel").Text(kernel.scalar.name);
    json.Key("workload").Text(WorkloadFingerprint(kernel));
    json.Key("computes")
        .Text(compiled.program.kernels(static_cast<int>(k)).label());
    json.Key("generator").Text(kernel.generator);
    json.Key("source").Text(kernel.source);
    json.Key("decisions").Open('[');
    for (const Decision& decision : kernel.decisions) {
      json.Open('{').Key("name").Text(decision.name);
      json.Key("value").Text(decision.space.Print(decision.value));
      json.Key("space").Text(decision.space.ToString());
      json.Key("size").Number(decision.space.size());
      json.Key("may_change_bits").Bool(decision.bits == Bits::kMayChange);
      json.Close('}');
    }
    json.Close(']').Close('}');
  }
  json.Close(']');
}

}  // namespace tilewright::tools
