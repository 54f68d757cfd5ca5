#include "compiler/rewrite_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/spec/cpu_features.h"
#include "backends/spec/load_spec.h"
#include "base/parallel_for.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/gpu/term_slices.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/rewrite/bf16_contractions.h"
#include "tilegraph/rewrite/byte_tables.h"
#include "tilegraph/rewrite/channel_sums.h"
#include "tilegraph/rewrite/nest_concatenations.h"
#include "tilegraph/rewrite/pixel_sums.h"
#include "tilegraph/rewrite/plain_copies.h"
#include "tilegraph/rewrite/split_phases.h"
#include "tilegraph/rewrite/split_terms.h"
#include "tilegraph/rewrite/widen_data.h"
#include "tilegraph/rewrite/window_rows.h"
#include "tilegraph/rewrite/windows_in_place.h"
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

// Operations that a table of bytes must replace. Where no instruction reads it,
// each lane takes about as long as five operations on all of them.
int LeastTabulated(const DeviceSpec& spec) {
  if (HasFeature(spec, "avx512vbmi")) return 10;
  return static_cast<int>(5 * spec.unit().vector_bytes() / sizeof(float));
}

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

// Applies rewrites to a model, one after the other.
class Rewriting {
 public:
  explicit Rewriting(const ImportedModel& model) : model_(model) {}

  // `rewrite`: a TensorGraph to a RewrittenGraph.
  template <class Rewrite>
  void Apply(const Rewrite& rewrite) {
    model_ = WithGraph(model_, rewrite(model_.graph));
  }
  const TensorGraph& graph() const { return model_.graph; }
  ImportedModel Result() && { return std::move(model_); }

 private:
  ImportedModel model_;
};

// Sums in phases and slices: more tasks.
void RewriteForGpu(const DeviceSpec& spec, Rewriting& model) {
  model.Apply(SplitPhases);
  GpuTilingOptions tiling;
  tiling.use = kThreadsOnly;
  const std::vector<int64_t> slices =
      TermSlices(model.graph(), spec, tiling, UsableCpus());
  model.Apply([&](const TensorGraph& graph) {
    return SplitTerms(graph, [&](const Tensor& tensor) {
      return slices[static_cast<size_t>(tensor.id)];
    });
  });
}

// By its channels in blocks of `block`.
RewrittenGraph MarkFasterByWinograd(const TensorGraph& graph,
                                    const DeviceSpec& spec, int64_t block,
                                    bool large_tiles) {
  const std::vector<int> tiles =
      large_tiles ? std::vector<int>{2, 4} : std::vector<int>{2};
  return MarkWinograd(
      graph, large_tiles ? ComputeRole::kWinograd4 : ComputeRole::kWinograd2,
      [&](const WinogradCase& shape) {
        if (shape.in_channels % block != 0 || shape.out_channels % block != 0 ||
            shape.in_channels > kMostChannels)
          return 0;
        const int m = FastestWinogradTile(shape, tiles, spec);
        return EstimatedSeconds(shape, m, spec) * kLeastGain <
                       EstimatedSeconds(shape, 1, spec)
                   ? m
                   : 0;
      });
}

}  // namespace

bool MultipliesBf16(const DeviceSpec& spec) {
  const auto& units = spec.unit().matrix_units();
  const bool multiplies =
      std::any_of(units.begin(), units.end(), [](const MatrixUnit& unit) {
        return unit.name() == "dot2_bf16_f32";
      });
  return multiplies && (CorePeak(spec, "bf16", PeakRate::VECTOR) == 0 ||
                        CorePeak(spec, "bf16", PeakRate::VECTOR) >
                            CorePeak(spec, "f32", PeakRate::VECTOR));
}

ImportedModel RewriteModel(const ImportedModel& imported,
                           const DeviceSpec& spec, const PlanOptions& plan,
                           const std::vector<std::string>& allow) {
  Rewriting model(imported);
  if (Allows(allow, kAllowBf16) && MultipliesBf16(spec))
    model.Apply(RoundContractionsToBf16);
  // Unfused the model is computed operator by operator.
  if (plan.connect == PlanOptions::Connect::kNone)
    return std::move(model).Result();
  model.Apply(NestConcatenations);
  model.Apply(ReadWindowsInPlace);
  const int64_t block = plan.channel_block_or_default();
  if (GpuLevelsOf(spec)) {
    RewriteForGpu(spec, model);
    return std::move(model).Result();
  }
  model.Apply([&](const TensorGraph& graph) {
    return TabulateFunctionsOfBytes(graph, LeastTabulated(spec));
  });
  // Dot products take bf16 as it is.
  std::vector<DType> narrow = {DType::kFloat16};
  if (!MultipliesBf16(spec)) narrow.push_back(DType::kBFloat16);
  model.Apply(
      [&](const TensorGraph& graph) { return WidenReusedData(graph, narrow); });
  if (block != 0) {
    // Without channels in blocks these cost more than they save.
    model.Apply(SumChannelsFirst);
    model.Apply(SpreadOverChannels);
    model.Apply(SumChannelsOfPixels);
    model.Apply([&](const TensorGraph& graph) {
      return MarkFasterByWinograd(graph, spec, block,
                                  Allows(allow, kAllowWinograd4));
    });
    model.Apply([&](const TensorGraph& graph) {
      return CopyDataReadByPixels(graph, block);
    });
    model.Apply([&](const TensorGraph& graph) {
      return CopyConvolvedOutputs(graph, block);
    });
    model.Apply([&](const TensorGraph& graph) {
      return SplitIntoWindows(graph, block);
    });
  }
  return std::move(model).Result();
}

}  // namespace tilewright
