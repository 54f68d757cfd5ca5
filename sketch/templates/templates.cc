#include "sketch/templates/templates.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sketch/derivation/derivation.h"
#include "sketch/derivation/derivation_style.h"
#include "sketch/derivation/sketch_generator.h"
#include "sketch/derivation/sketch_rule.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/derivation/sketch_state.h"
#include "sketch/derivation/tile_sizes.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/templates/knob_split.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

using Policy = KnobSplit::Policy;

// The bound of tile_ow and of vectors, and the registers that a fallback fills
// (TVM's reg_n).
constexpr int64_t kMostPixels = 64, kFallbackPixels = 14;
constexpr int64_t kFallbackRows = 6, kFallbackSteps = 16;

class Template {
 public:
  Template(Derivation& derivation, const TileProblem& problem)
      : decider_(derivation.decider()),
        problem_(problem),
        graph_(derivation.state().workload().graph),
        prefix_(absl::StrCat(Derivation::NameOf(problem.block), ".")),
        lanes_(Lanes(graph_, derivation.state().spec())) {
    sizes_.order = AxesInOrder(derivation.state().workload(), problem);
  }

  TileSizes Convolution(const ConvolutionRoles& roles) && {
    StartWhole();
    const int channels = ConvolutionRoles::kChannels;
    const int pixels = static_cast<int>(problem_.spatial.size()) - 1;
    const Factors oc = Split("tile_oc", problem_.spatial[channels], 2,
                             Policy::kFactors, 0, {lanes_}, Bits::kSame);
    sizes_.spatial[channels] = {oc[0], 1, 1, oc[1]};
    if (pixels > channels) {
      const Factors ow =
          Split("tile_ow", problem_.spatial[pixels], 2, Policy::kVerbose,
                kMostPixels, {kFallbackPixels}, Bits::kSame);
      sizes_.spatial[pixels] = {1, ow[0], 1, ow[1]};
    }
    int taps = -1;
    bool cut = false;
    for (int r = 0; r < static_cast<int>(problem_.reduce.size()); ++r) {
      if (!Mentions(roles.data.operand(roles.data_channels), Axis(r))) {
        taps = r;
        continue;
      }
      if (std::exchange(cut, true)) continue;
      sizes_.reduce[r] = Split("tile_ic", problem_.reduce[r], 2,
                               Policy::kFactors, 0, {lanes_}, Bits::kMayChange);
    }
    if (taps >= 0 && problem_.reduce[taps] > 1 &&
        decider_.DecideWhether(
            prefix_ + "unroll_kw", [] { return false; }, Bits::kMayChange))
      sizes_.reduce[taps] = {1, problem_.reduce[taps]};
    return std::move(sizes_);
  }

  TileSizes Product(const ContractionRoles& roles) && {
    StartWhole();
    const auto cut = [&](const char* knob, int axis, int64_t wanted) {
      const Factors parts =
          Split(knob, problem_.spatial[axis], 3, Policy::kFactors, 0,
                {1, wanted}, Bits::kSame);
      sizes_.spatial[axis] = {parts[0], parts[1], 1, parts[2]};
    };
    cut("tile_y", roles.rows.back(), kFallbackRows);
    cut("tile_x", roles.columns.back(), 2 * lanes_);
    int reducing = 0;
    for (const int64_t extent : problem_.reduce) reducing += extent > 1 ? 1 : 0;
    sizes_.reduce.back() =
        Split("tile_k", problem_.reduce.back(), 2, Policy::kFactors, 0,
              {kFallbackSteps}, reducing > 1 ? Bits::kMayChange : Bits::kSame);
    return std::move(sizes_);
  }

  // The axis along which elements lie side by side, and the next one outside
  // of it; of rows that are reduced only the innermost one, without tails.
  TileSizes Simple(bool rows) && {
    for (const int64_t extent : problem_.spatial)
      sizes_.spatial.push_back({extent, 1});
    const auto cut = [&](const char* knob, int axis, int64_t wanted) {
      sizes_.spatial[axis] = Split(knob, problem_.spatial[axis], 2,
                                   rows ? Policy::kFactors : Policy::kVerbose,
                                   kMostPixels, {wanted}, Bits::kSame);
    };
    std::vector<int> open;  // innermost first
    for (const int axis : sizes_.order) {
      if (problem_.spatial[axis] > 1) open.insert(open.begin(), axis);
    }
    if (!rows && !open.empty() && open[0] == sizes_.order.back()) {
      cut("tile_x", open[0], 2 * lanes_);
      open.erase(open.begin());
    }
    if (!open.empty()) cut("tile_y", open[0], 1);
    return std::move(sizes_);
  }

 private:
  // Nothing is cut.
  void StartWhole() {
    for (const int64_t extent : problem_.spatial)
      sizes_.spatial.push_back({extent, 1, 1, 1});
    for (const int64_t extent : problem_.reduce)
      sizes_.reduce.push_back({extent, 1});
  }

  int Axis(int reduce) const {
    return static_cast<int>(problem_.spatial.size()) + reduce;
  }

  Factors Split(const char* knob, int64_t extent, int parts, Policy policy,
                int64_t most, const Factors& wanted, Bits bits) {
    return KnobSplit(extent, parts, policy, most)
        .Decide(decider_, prefix_ + knob, wanted, bits);
  }

  Decider& decider_;
  const TileProblem& problem_;
  const TensorGraph& graph_;
  const std::string prefix_;
  const int64_t lanes_;
  TileSizes sizes_;
};

// A template of several levels.
bool IsTiled(const TensorGraph& graph, TensorId id) {
  return AsConvolution(graph, id) || AsContraction(graph, id);
}

bool IsRowReduction(const SketchState& state, TensorId id) {
  return FamilyOf(state.workload().graph, id) == ComputeFamily::kRowReduction &&
         state.traits(id).steps > 1;
}

bool HasTemplate(const TensorGraph& graph, TensorId id) {
  if (graph.tensor(id).kind != TensorKind::kCompute) return false;
  const ComputeFamily family = FamilyOf(graph, id);
  return IsTiled(graph, id) || family == ComputeFamily::kPooling ||
         family == ComputeFamily::kRowReduction;
}

std::optional<TileSizes> Knobs(Derivation& derivation,
                               const TileProblem& problem) {
  const TensorGraph& graph = derivation.state().workload().graph;
  Template sizes(derivation, problem);
  if (const auto roles = AsConvolution(graph, problem.id))
    return std::move(sizes).Convolution(*roles);
  if (const auto roles = AsContraction(graph, problem.id))
    return std::move(sizes).Product(*roles);
  return std::nullopt;
}

std::optional<TileSizes> SimpleKnobs(Derivation& derivation,
                                     const TileProblem& problem) {
  return Template(derivation, problem)
      .Simple(IsRowReduction(derivation.state(), problem.id));
}

using Applies = std::function<bool(const SketchState&, TensorId)>;

// The rule in that variant, alone, wherever it applies.
SketchRule Only(SketchRule rule, const char* variant, Applies applies) {
  rule.variants = {variant};
  rule.alternative = false;
  rule.condition = [applies = std::move(applies)](const SketchState& state,
                                                  TensorId id) {
    return applies(state, id) ? SketchRule::Meets::kApplyAndSkipRest
                              : SketchRule::Meets::kSkip;
  };
  return rule;
}

// Ansor's rules, of which each compute has just one option.
SketchRules Structure() {
  SketchRules rules = TvmCpuRules();
  std::vector<SketchRule> kept;
  for (SketchRule& rule : rules.rules) {
    if (rule.name == "inline" || rule.name == "skip") {
      kept.push_back(std::move(rule));
    } else if (rule.name == "rfactor") {
      kept.push_back(Only(std::move(rule), "inner", IsRowReduction));
    } else if (rule.name == "cache-write" || rule.name == "tile-fused") {
      const bool fused = rule.fuses;
      kept.push_back(Only(std::move(rule), "2",
                          [fused](const SketchState& state, TensorId id) {
                            return IsTiled(state.workload().graph, id) &&
                                   state.MatchedReader(id).has_value() == fused;
                          }));
    }
  }
  rules.rules = std::move(kept);
  rules.style.pack = true;
  rules.style.sizes = Knobs;
  rules.style.simple_sizes = SimpleKnobs;
  return rules;
}

}  // namespace

Generator TemplateGenerator() {
  const auto sketch =
      std::make_shared<const Generator>(SketchGenerator(Structure()));
  return {"template",
          [sketch](const Workload& workload, const DeviceSpec& spec,
                   Decider& decider) -> absl::StatusOr<Schedule> {
            const TensorGraph& graph = workload.graph;
            if (std::none_of(graph.tensors().begin(), graph.tensors().end(),
                             [&](const Tensor& tensor) {
                               return HasTemplate(graph, tensor.id);
                             })) {
              return absl::InvalidArgumentError(
                  "no template: no product, convolution, pooling, or "
                  "reduction of rows");
            }
            return sketch->write(workload, spec, decider);
          }};
}

}  // namespace tilewright::sketch
