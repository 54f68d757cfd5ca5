#include "sketch/derivation/sketch_rules.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sketch/derivation/sketch_state.h"
#include "sketch/derivation/write_rules.h"

namespace tilewright::sketch {
namespace {

using Meets = SketchRule::Meets;

// The spatial points a core that make TVM's NeedsRfactor say no.
constexpr int64_t kEnoughPerCore = 16;

Meets ApplyIf(bool applies) { return applies ? Meets::kApply : Meets::kSkip; }
Meets ApplyAloneIf(bool applies) {
  return applies ? Meets::kApplyAndSkipRest : Meets::kSkip;
}

SketchRule AlwaysInline() {
  SketchRule rule;
  rule.name = "inline";
  rule.inlines = true;
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyAloneIf(!state.IsOutput(id) &&
                        state.traits(id).strictly_inlinable);
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
  rule.write = WriteUnrolledConstants;
  return rule;
}

SketchRule AddRfactor() {
  SketchRule rule;
  rule.name = "rfactor";
  rule.variants = {"outer", "inner"};
  rule.alternative = true;
  rule.condition = [](const SketchState& state, TensorId id) {
    const ComputeTraits& traits = state.traits(id);
    const int64_t cores = std::max<int64_t>(1, state.spec().unit().cores());
    if (traits.needs_tiling) {
      return ApplyIf(traits.elements <= traits.steps &&
                     traits.elements <= kEnoughPerCore * cores);
    }
    return ApplyIf(traits.steps > 1 && traits.steps > cores);
  };
  rule.write = WriteRfactor;
  return rule;
}

// TVM's also copies what reduces nothing, which is refused here.
SketchRule AddCacheWrite(bool of_maps) {
  SketchRule rule;
  rule.name = "cache-write";
  rule.variants = {"1", "2"};
  rule.condition = [of_maps](const SketchState& state, TensorId id) {
    const bool reduces =
        state.workload().graph.tensor(id).compute.combiner.has_value();
    return ApplyIf(state.traits(id).needs_tiling && !state.MatchedReader(id) &&
                   (reduces || of_maps));
  };
  rule.write = WriteCacheWrite;
  return rule;
}

SketchRule TileFused() {
  SketchRule rule;
  rule.name = "tile-fused";
  rule.variants = {"1", "2"};
  rule.fuses = true;
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyIf(state.traits(id).needs_tiling &&
                   state.MatchedReader(id).has_value());
  };
  rule.write = WriteTileFused;
  return rule;
}

SketchRule Tile() {
  SketchRule rule;
  rule.name = "tile";
  rule.alternative = true;
  rule.condition = [](const SketchState& state, TensorId id) {
    return ApplyAloneIf(state.traits(id).needs_tiling);
  };
  rule.write = WriteTile;
  return rule;
}

SketchRule SkipStage() {
  SketchRule rule;
  rule.name = "skip";
  rule.fusible = true;
  rule.condition = [](const SketchState&, TensorId) { return Meets::kApply; };
  rule.write = WriteSkip;
  return rule;
}

std::vector<SketchRule> RulesInOrder(bool copies_of_maps) {
  return {AlwaysInline(), UnrollConstants(),
          AddRfactor(),   AddCacheWrite(copies_of_maps),
          TileFused(),    Tile(),
          SkipStage()};
}

}  // namespace

SketchRules TvmCpuRules() { return {RulesInOrder(true), {}}; }

SketchRules ExtendedRules() {
  DerivationStyle style;
  style.tails = true;
  style.fit_vectors = true;
  style.anywhere = true;
  style.pack = true;
  style.roll = true;
  return {RulesInOrder(false), style};
}

}  // namespace tilewright::sketch
