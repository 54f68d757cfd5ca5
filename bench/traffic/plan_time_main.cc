// How long the search over groups and tiles of whole models takes, by the cost
// model alone: plan_time DIR... [--gpu=SPEC]
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/option_parser.h"
#include "compiler/rewrite_model.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/local_moves.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {
namespace {

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Kernels of the model.
size_t PlanFor(const TensorGraph& graph, const DeviceSpec& spec, bool gpu) {
  PlanOptions options;
  options.connect = PlanOptions::Connect::kTileGraph;
  if (gpu) options.channel_block = 0;
  Plan plan = MakePlan(graph, options);
  if (gpu) {
    const auto planned = PlanGpuKernels(graph, plan, spec, {});
    TW_CHECK(planned.ok()) << planned.status();
    return planned->kernels.size();
  }
  plan = MakeLocalMoves(graph, std::move(plan), [&](const Plan& moved) {
    return std::make_unique<GroupEvaluator>(graph, moved, spec);
  });
  const ConnectedGroups connected =
      ConnectPlan(graph, plan, GroupEvaluator(graph, plan, spec), {});
  return FusedPlan(graph, plan, connected).groups.size();
}

void Run(const std::string& dir, const DeviceSpec& spec, bool gpu) {
  const absl::StatusOr<ImportedModel> imported =
      ImportModel(dir + "/model.onnx");
  TW_CHECK(imported.ok()) << imported.status();
  const double before = Seconds();
  const ImportedModel model = RewriteModel(*imported, spec, {}, {});
  const size_t kernels = PlanFor(model.graph, spec, gpu);
  std::printf("%s: %zu kernels, planned in %.2f s\n", dir.c_str(), kernels,
              Seconds() - before);
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  std::string gpu;
  tilewright::OptionParser parser;
  parser.Text("gpu", &gpu);
  return tilewright::RunOnArguments(
      "plan_time", "plan_time DIR... [--gpu=SPEC]", parser,
      std::vector<std::string>(argv + 1, argv + argc),
      [&](const std::vector<std::string>& dirs) {
        const auto spec =
            gpu.empty() ? tilewright::HostSpec() : tilewright::LoadSpec(gpu);
        if (!spec.ok()) return spec.status();
        for (const std::string& dir : dirs)
          tilewright::Run(dir, *spec, !gpu.empty());
        return absl::OkStatus();
      });
}
