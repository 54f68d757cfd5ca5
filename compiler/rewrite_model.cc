#include "compiler/rewrite_model.h"

#include <algorithm>
#include <utility>

#include "backends/spec/load_spec.h"
#include "tilegraph/bf16_contractions.h"
#include "tilegraph/graph_rewrite.h"
#include "tilegraph/plain_outputs.h"

namespace tilewright {
namespace {

// A rewrite must be faster by this much: estimates are rough, and weights grow.
constexpr double kLeastGain = 1.15;
// Longer sums of products would have to be blocked, for their rounding
// (sketch/reduce_loops.h): UNet's of 1024 still err as little as direct ones.
constexpr int64_t kMostChannels = 1024;

// Figures of specs that do not say.
constexpr double kUnknownOpsPerS = 1e11;
constexpr double kUnknownBytesPerS = 1e10;

double PeakOpsPerS(const DeviceSpec& spec) {
  const double peak = CorePeak(spec, "f32", PeakRate::VECTOR);
  return peak > 0 ? peak : kUnknownOpsPerS;
}

double MemoryBytesPerS(const DeviceSpec& spec) {
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::MEMORY && level.read_bytes_per_s() > 0)
      return level.read_bytes_per_s();
  }
  return kUnknownBytesPerS;
}

// Loads, stores and arithmetic of the transforms, in vector instructions per
// tile and vector of channels.
struct TransformCost {
  double input, output;
};
TransformCost CostOfTransforms(int m) {
  return m == 2 ? TransformCost{64, 44} : TransformCost{210, 150};
}

}  // namespace

double EstimatedSeconds(const WinogradCase& shape, int m,
                        const DeviceSpec& spec) {
  const double in = static_cast<double>(shape.in_channels),
               out = static_cast<double>(shape.out_channels),
               tiles = static_cast<double>(shape.tiles(m));
  const int t = m + 2;
  const double filters = m == 1 ? 9 : t * t;
  double operations = 2 * tiles * filters * in * out;
  if (m > 1) {
    const TransformCost cost = CostOfTransforms(m);
    // An instruction takes the place of a multiply-add.
    operations += 2 * tiles * (in * cost.input + out * cost.output);
  }
  // Weights come from memory, beside the arithmetic.
  return std::max(operations / PeakOpsPerS(spec),
                  filters * in * out * 4 / MemoryBytesPerS(spec));
}

namespace {

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

}  // namespace

bool MultipliesBf16(const DeviceSpec& spec) {
  const auto& units = spec.unit().matrix_units();
  return std::any_of(units.begin(), units.end(), [](const MatrixUnit& unit) {
    return unit.name() == "dot2_bf16_f32";
  });
}

ImportedModel RewriteModel(const ImportedModel& imported,
                           const DeviceSpec& spec, const PlanOptions& plan,
                           const std::vector<std::string>& allow,
                           const std::set<std::string>& direct) {
  const ImportedModel model =
      Allows(allow, kAllowBf16) && MultipliesBf16(spec)
          ? WithGraph(imported, RoundContractionsToBf16(imported.graph))
          : imported;
  // Unfused or without channels in blocks the transforms cost more than they
  // save.
  if (plan.connect == PlanOptions::Connect::kNone || plan.channel_block == 0)
    return model;
  const bool large_tiles = Allows(allow, kAllowWinograd4);
  const ImportedModel minimal = WithGraph(
      model, RewriteWinograd(model.graph, [&](const WinogradCase& shape) {
        if (shape.in_channels % plan.channel_block != 0 ||
            shape.out_channels % plan.channel_block != 0 ||
            shape.in_channels > kMostChannels || direct.count(shape.name) > 0)
          return 0;
        int best = 0;
        double limit = EstimatedSeconds(shape, 1, spec) / kLeastGain;
        for (const int m : {2, 4}) {
          if (m > 2 && !large_tiles) continue;
          const double seconds = EstimatedSeconds(shape, m, spec);
          if (seconds < limit) best = m, limit = seconds;
        }
        return best;
      }));
  return WithGraph(minimal,
                   CopyConvolvedOutputs(minimal.graph, plan.channel_block));
}

}  // namespace tilewright
