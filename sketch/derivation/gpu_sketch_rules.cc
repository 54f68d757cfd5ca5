#include "sketch/derivation/gpu_sketch_rules.h"

#include "sketch/derivation/sketch_state.h"
#include "sketch/derivation/write_gpu_rules.h"
#include "sketch/derivation/write_rules.h"
#include "sketch/tree/thread_loops.h"

namespace tilewright::sketch {
namespace {

using Meets = SketchRule::Meets;

Meets ApplyAloneIf(bool applies) {
  return applies ? Meets::kApplyAndSkipRest : Meets::kSkip;
}

const Compute& ComputeOf(const SketchState& state, TensorId id) {
  return state.workload().graph.tensor(id).compute;
}

SketchRule InlineAll() {
  SketchRule rule;
  rule.name = "inline";
  rule.inlines = true;
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyAloneIf(!state.IsOutput(id) && !ComputeOf(state, id).combiner);
  };
  rule.write = WriteInline;
  return rule;
}

SketchRule UnrollConstants() {
  SketchRule rule;
  rule.name = "unroll-constants";
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyAloneIf(!state.traits(id).constant_axes.empty());
  };
  rule.write = WriteThreadConstants;
  return rule;
}

SketchRule CrossThreadReduction() {
  SketchRule rule;
  rule.name = "cross-thread";
  rule.condition = [](const SketchState& state, TensorId id) {
    const ComputeTraits& traits = state.traits(id);
    const bool applies =
        traits.needs_tiling
            ? traits.elements <= kMostThreads && traits.elements < traits.steps
            : traits.steps > kWarpLanes;
    return applies ? Meets::kApply : Meets::kSkip;
  };
  rule.write = WriteCrossThread;
  return rule;
}

SketchRule CacheWrite() {
  SketchRule rule;
  rule.name = "cache-write";
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyAloneIf(state.traits(id).needs_tiling &&
                        !state.MatchedReader(id) &&
                        ComputeOf(state, id).combiner.has_value());
  };
  rule.write = WriteThreadTiles;
  return rule;
}

SketchRule TileFused() {
  SketchRule rule;
  rule.name = "tile-fused";
  rule.fuses = true;
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyAloneIf(state.traits(id).needs_tiling &&
                        state.MatchedReader(id).has_value());
  };
  rule.write = WriteThreadTiles;
  return rule;
}

SketchRule SkipStage() {
  SketchRule rule;
  rule.name = "skip";
  rule.fusible = true;
  rule.condition = [](const SketchState&, TensorId) { return Meets::kApply; };
  rule.write = WriteThreads;
  return rule;
}

}  // namespace

SketchRules TvmGpuRules() {
  DerivationStyle style;
  style.threads = true;
  return {{InlineAll(), UnrollConstants(), CrossThreadReduction(), CacheWrite(),
           TileFused(), SkipStage()},
          style};
}

}  // namespace tilewright::sketch
