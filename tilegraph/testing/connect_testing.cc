#include "tilegraph/testing/connect_testing.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "tilegraph/cost/group_cost.h"

namespace tilewright {

void ConnectTest::SetUp() {
  TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4"));
  force_.evaluate.least_gain = -1e9;
}

Plan ConnectTest::Connect(const TensorGraph& graph,
                          const ConnectPlanOptions& options) {
  PlanOptions plan_options;
  plan_options.connect = PlanOptions::Connect::kTileGraph;
  const Plan plan = MakePlan(graph, plan_options);
  connected_ =
      ConnectPlan(graph, plan, GroupEvaluator(graph, plan, spec_), options);
  return FusedPlan(graph, plan, connected_);
}

std::vector<std::string> ConnectTest::Names(const TensorGraph& graph,
                                            const std::vector<TensorId>& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(graph.tensor(id).name);
  return names;
}

std::string ConnectTest::Reasons() const {
  std::string reasons;
  for (const FusionDecision& decision : connected_.decisions) {
    if (!decision.taken) reasons += decision.why + "\n";
  }
  return reasons;
}

}  // namespace tilewright
