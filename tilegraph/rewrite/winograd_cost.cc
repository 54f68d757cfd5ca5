#include "tilegraph/rewrite/winograd_cost.h"

#include <algorithm>
#include <limits>

#include "backends/spec/load_spec.h"

namespace tilewright {
namespace {

double MemoryBytesPerS(const DeviceSpec& spec) {
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::MEMORY && level.read_bytes_per_s() > 0)
      return level.read_bytes_per_s();
  }
  return std::numeric_limits<double>::infinity();
}

// Loads, stores and arithmetic of the transforms, in vector instructions per
// tile and vector of channels.
struct TransformCost {
  double input, output;
};
TransformCost CostOfTransforms(int m, const CostModel& model) {
  return m == 2 ? TransformCost{model.winograd2_input_operations(),
                                model.winograd2_output_operations()}
                : TransformCost{model.winograd4_input_operations(),
                                model.winograd4_output_operations()};
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
    const TransformCost cost = CostOfTransforms(m, CostModelOf(spec));
    // An instruction takes the place of a multiply-add.
    operations += 2 * tiles * (in * cost.input + out * cost.output);
  }
  // Weights come from memory, beside the arithmetic.
  return std::max(operations / CorePeak(spec, "f32", PeakRate::VECTOR),
                  filters * in * out * 4 / MemoryBytesPerS(spec));
}

int FastestWinogradTile(const WinogradCase& shape, absl::Span<const int> tiles,
                        const DeviceSpec& spec) {
  return *std::min_element(tiles.begin(), tiles.end(), [&](int a, int b) {
    return EstimatedSeconds(shape, a, spec) < EstimatedSeconds(shape, b, spec);
  });
}

}  // namespace tilewright
