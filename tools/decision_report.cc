#include "tools/decision_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/plan/kernel_key.h"

namespace tilewright::tools {
namespace {

std::string WorkloadFingerprint(const CompiledKernel& kernel) {
  return KernelKey(kernel.workload.workload.Text()).fingerprint().ToString();
}

bool IsShown(const CompiledModel& compiled, int group, size_t kernel) {
  return group < 0 ||
         compiled.kernel_of_group[group] == static_cast<int>(kernel);
}

// The choices of lowering for a kernel where the schedule left it open.
struct Resolved {
  std::map<std::string, int> copies;  // above 1, by name of the loop
  int prefetches = 0;
  bool streams = false;
};

void Collect(const kernel_ir::ScalarKernel& kernel,
             const std::vector<kernel_ir::Inst>& body, Resolved& resolved) {
  for (const kernel_ir::Inst& inst : body) {
    if (const auto* loop = std::get_if<kernel_ir::ForInst>(&inst.node)) {
      if (loop->unroll > 1) {
        int& most = resolved.copies[kernel.regs[loop->var].name];
        most = std::max(most, loop->unroll);
      }
      Collect(kernel, loop->body, resolved);
    } else if (const auto* branch =
                   std::get_if<kernel_ir::IfInst>(&inst.node)) {
      Collect(kernel, branch->then_body, resolved);
      Collect(kernel, branch->else_body, resolved);
    } else if (std::holds_alternative<kernel_ir::PrefetchInst>(inst.node)) {
      ++resolved.prefetches;
    } else if (const auto* store =
                   std::get_if<kernel_ir::StoreInst>(&inst.node)) {
      resolved.streams |= store->streaming;
    }
  }
}

// "unroll", or that of a stage: "T.unroll".
bool IsCalled(const Decision& decision, const std::string& role) {
  return decision.name == role || absl::EndsWith(decision.name, "." + role);
}

std::string CopiesText(const Resolved& resolved, bool alone) {
  if (resolved.copies.empty()) return "1";
  if (!alone)
    return absl::StrJoin(resolved.copies, ", ", absl::PairFormatter(" "));
  int most = 1;
  for (const auto& [loop, copies] : resolved.copies)
    most = std::max(most, copies);
  return absl::StrCat(most);
}

// By name of those decisions that were left to lowering.
std::map<std::string, std::string> WhatBecame(const CompiledKernel& kernel) {
  Resolved resolved;
  Collect(kernel.scalar, kernel.scalar.body, resolved);
  const auto stages = std::count_if(
      kernel.decisions.begin(), kernel.decisions.end(),
      [](const Decision& decision) { return IsCalled(decision, "unroll"); });
  std::map<std::string, std::string> became;
  for (const Decision& decision : kernel.decisions) {
    if (decision.space.Print(decision.value) != "auto") continue;
    if (IsCalled(decision, "unroll"))
      became[decision.name] = CopiesText(resolved, stages == 1);
    if (IsCalled(decision, "prefetch")) {
      became[decision.name] = resolved.prefetches == 0
                                  ? "none"
                                  : absl::StrCat(resolved.prefetches, " lines");
    }
    if (IsCalled(decision, "stream"))
      became[decision.name] = resolved.streams ? "yes" : "no";
  }
  return became;
}

// The table's text, with what became of what was left open.
std::string TableText(const CompiledKernel& kernel) {
  const std::map<std::string, std::string> became = WhatBecame(kernel);
  std::string text;
  for (const absl::string_view line :
       absl::StrSplit(ToString(kernel.decisions), '\n', absl::SkipEmpty())) {
    const auto found =
        became.find(std::string(line.substr(0, line.find(" = "))));
    absl::StrAppend(
        &text, line,
        found == became.end() ? "" : absl::StrCat(", became ", found->second),
        "\n");
  }
  return text;
}

// `became` (WhatBecame) of some of them; may be empty.
void AppendTable(const DecisionTable& decisions,
                 const std::map<std::string, std::string>& became, Json& json) {
  json.Key("decisions").Open('[');
  for (const Decision& decision : decisions) {
    json.Open('{').Key("name").Text(decision.name);
    json.Key("value").Text(decision.space.Print(decision.value));
    json.Key("space").Text(decision.space.ToString());
    json.Key("size").Number(decision.space.size());
    json.Key("may_change_bits").Bool(decision.bits == Bits::kMayChange);
    if (const auto found = became.find(decision.name); found != became.end())
      json.Key("became").Text(found->second);
    json.Close('}');
  }
  json.Close(']');
}

}  // namespace

std::string DecisionsText(const ImportedModel& model,
                          const CompiledModel& compiled, int group) {
  std::string out;
  if (group < 0 && !compiled.plan_decisions.empty())
    absl::StrAppend(&out, "# the model, from ", compiled.plan_source, "\n[",
                    ModelFingerprint(model), "]\n",
                    ToString(compiled.plan_decisions));
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
                    "\n[", key, "]\n", TableText(kernel));
  }
  return out;
}

void AppendModelDecisions(const ImportedModel& model,
                          const CompiledModel& compiled, Json& json) {
  json.Open('{').Key("model").Text(ModelFingerprint(model));
  json.Key("source").Text(compiled.plan_source);
  AppendTable(compiled.plan_decisions, {}, json);
  json.Close('}');
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
    AppendTable(kernel.decisions, WhatBecame(kernel), json);
    json.Close('}');
  }
  json.Close(']');
}

}  // namespace tilewright::tools
