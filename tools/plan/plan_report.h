// Inspect's report on a plan: what each kernel is made of, what it is predicted
// to cost, and why it ends where it does.
#ifndef TILEWRIGHT_TOOLS_PLAN_PLAN_REPORT_H_
#define TILEWRIGHT_TOOLS_PLAN_PLAN_REPORT_H_

#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "compiler/compile.h"
#include "tools/page/json.h"

namespace tilewright::tools {

// Predictions for one group of a plan. A group without stages has the tiles
// that cost least, which its schedule need not have.
struct GroupReport {
  GroupCost cost;   // tile empty: no prediction, e.g. of a scalar
  GroupCost apart;  // of a group with stages: the sum of its register groups
  // Fusions that it, or a group in it, was evaluated for; the one taken last.
  std::vector<const FusionDecision*> evaluated;
};

struct PlanReport {
  std::vector<GroupReport> groups;  // as in the plan
  double intermediate_bytes = 0;    // of what groups write and others read
  int fused = 0;                    // groups with stages
  int distinct_fused = 0;           // kernels of such
  int distinct_several = 0;         // of those, with two or more reductions
};

// Adds the cost of a group that runs after those of `sum`.
void AddCost(const GroupCost& one, GroupCost& sum);

// `compiled` must outlive it.
PlanReport ReportPlan(const CompiledModel& compiled, const DeviceSpec& spec);

// ToString(plan), with the predictions.
std::string PlanText(const CompiledModel& compiled, const PlanReport& report);
// A line for each group, or, for one group, every candidate that was evaluated.
// REQUIRES: -1 or an index of a group.
std::string WhyText(const CompiledModel& compiled, const PlanReport& report,
                    int only);
// An object with all of it.
void AppendPlan(const CompiledModel& compiled, const PlanReport& report,
                Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_PLAN_REPORT_H_
