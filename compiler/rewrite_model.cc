#include "compiler/rewrite_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/gpu/term_slices.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/rewrite/bf16_contractions.h"
#include "tilegraph/rewrite/channel_sums.h"
#include "tilegraph/rewrite/plain_outputs.h"
#include "tilegraph/rewrite/split_phases.h"
#include "tilegraph/rewrite/split_terms.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/rewrite/winograd_cost.h"

namespace tilewright {
namespace {

// Winograd must be faster by this much: estimates are rough, and weights grow.
constexpr double kLeastGain = 1.15;
// Longer sums of products would have to be blocked, for their rounding
// (sketch/rules/shared/reduce_loops.h): UNet's of 1024 still err as little as
// direct ones.
constexpr int64_t kMostChannels = 1024;

bool Allows(const std::vector<std::string>& allow, const char* name) {
  return std::find(allow.begin(), allow.end(), name) != allow.end();
}

ImportedModel WithGraph(const ImportedModel& model, RewrittenGraph rewritten) {
  ImportedModel result;
  result.graph = std::move(rewritten.graph);
  const auto renamed = [&](std::vector<Port> ports) {
    for (Port& port : ports) port.tensor = rewritten.ids[port.tensor];
    return ports;
  };
  result.inputs = renamed(model.inputs);
  result.outputs = renamed(model.outputs);
  return result;
}

// Sums in phases and slices. Unfused the model is computed operator by
// operator.
ImportedModel WithMoreTasks(const ImportedModel& model, const DeviceSpec& spec,
                            const PlanOptions& plan) {
  if (plan.connect == PlanOptions::Connect::kNone) return model;
  GpuTilingOptions tiling;
  tiling.use = kThreadsOnly;
  const ImportedModel phases = WithGraph(model, SplitPhases(model.graph));
  const std::vector<int64_t> slices =
      TermSlices(phases.graph, spec, tiling, UsableCpus());
  return WithGraph(phases, SplitTerms(phases.graph, [&](const Tensor& tensor) {
                     return slices[static_cast<size_t>(tensor.id)];
                   }));
}

}  // namespace

bool MultipliesBf16(const DeviceSpec& spec) {
  const auto& units = spec.unit().matrix_units();
  return std::any_of(units.begin(), units.end(), [](const MatrixUnit& unit) {
    return unit.name() == "dot2_bf16_f32";
  });
}

ImportedModel RewriteModel(const ImportedModel& imported,
                           const DeviceSpec& spec, const PlanOptions& plan,
                           const std::vector<std::string>& allow) {
  const ImportedModel model =
      Allows(allow, kAllowBf16) && MultipliesBf16(spec)
          ? WithGraph(imported, RoundContractionsToBf16(imported.graph))
          : imported;
  if (GpuLevelsOf(spec)) return WithMoreTasks(model, spec, plan);
  // Unfused or without channels in blocks the rewrites cost more than they
  // save.
  const int64_t block = plan.channel_block_or_default();
  if (plan.connect == PlanOptions::Connect::kNone || block == 0) return model;
  const bool large_tiles = Allows(allow, kAllowWinograd4);
  const ImportedModel summed = WithGraph(model, SumChannelsFirst(model.graph));
  const ImportedModel spread =
      WithGraph(summed, SpreadOverChannels(summed.graph));
  const ImportedModel marked = WithGraph(
      spread,
      MarkWinograd(
          spread.graph,
          large_tiles ? ComputeRole::kWinograd4 : ComputeRole::kWinograd2,
          [&](const WinogradCase& shape) {
            if (shape.in_channels % block != 0 ||
                shape.out_channels % block != 0 ||
                shape.in_channels > kMostChannels)
              return 0;
            const int m = FastestWinogradTile(
                shape,
                large_tiles ? std::vector<int>{2, 4} : std::vector<int>{2},
                spec);
            return EstimatedSeconds(shape, m, spec) * kLeastGain <
                           EstimatedSeconds(shape, 1, spec)
                       ? m
                       : 0;
          }));
  return WithGraph(marked, CopyConvolvedOutputs(marked.graph, block));
}

}  // namespace tilewright
