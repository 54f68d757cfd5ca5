#include "sketch/derivation/sketch_generator.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/derivation/derivation.h"
#include "sketch/derivation/sketch_state.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

constexpr char kRule[] = ".rule";

// The rules that apply to a compute, by option.
struct Options {
  std::vector<AppliedRule> applied;
  std::vector<std::string> names;
  int64_t preferred =
      0;  // the last variant of the first that is no alternative
};

Options OptionsOf(const std::vector<SketchRule>& rules,
                  const SketchState& state, TensorId id) {
  Options options;
  const SketchRule* preferred = nullptr;
  for (const SketchRule& rule : rules) {
    const SketchRule::Meets meets = rule.condition(state, id);
    if (meets == SketchRule::Meets::kSkip) continue;
    if (rule.variants.empty()) {
      options.applied.push_back({&rule, ""});
      options.names.push_back(rule.name);
    }
    for (const std::string& variant : rule.variants) {
      options.applied.push_back({&rule, variant});
      options.names.push_back(absl::StrCat(rule.name, ".", variant));
    }
    if (preferred == nullptr || (preferred->alternative && !rule.alternative)) {
      preferred = &rule;
      options.preferred = static_cast<int64_t>(options.applied.size()) - 1;
    }
    if (meets == SketchRule::Meets::kApplyAndSkipRest) break;
  }
  return options;
}

absl::StatusOr<Schedule> Derive(const SketchRules& rules,
                                const Workload& workload,
                                const DeviceSpec& spec, Decider& decider) {
  const TensorGraph& graph = workload.graph;
  SketchState state(workload, spec);
  for (const TensorId id : state.computes()) {
    const Options options = OptionsOf(rules.rules, state, id);
    const std::string& name = graph.tensor(id).name;
    if (options.names.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no rule applies to ", name));
    }
    const int64_t decided = decider.DecideNumber(
        absl::StrCat(Derivation::NameOf(name), kRule),
        Space::OneOf(options.names), [&] { return options.preferred; },
        Bits::kMayChange);
    state.Apply(id, options.applied[decided]);
  }
  TW_ASSIGN_OR_RETURN(Derivation derivation,
                      Derivation::Create(state, rules.style, decider));
  for (const TensorId id : state.computes()) {
    if (state.IsFused(id)) continue;
    const AppliedRule& applied = state.applied(id);
    const absl::Status status =
        applied.rule->write(derivation, id, applied.variant);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(applied.rule->name, " of ",
                                                     graph.tensor(id).name,
                                                     ": ", status.message()));
    }
  }
  TW_RETURN_IF_ERROR(derivation.Annotate());
  return std::move(derivation).Finish();
}

// All rules, preferred annotation.
class RulesPolicy : public DecisionPolicy {
 public:
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override {
    return absl::EndsWith(name, kRule) ? rules_.Answer(name, space, preferred)
                                       : rest_.Answer(name, space, preferred);
  }
  bool Next() { return rules_.Next(); }

 private:
  EnumeratingPolicy rules_;
  PreferredPolicy rest_;
};

}  // namespace

Generator SketchGenerator(SketchRules rules) {
  const auto shared = std::make_shared<const SketchRules>(std::move(rules));
  return {"sketch", [shared](const Workload& workload, const DeviceSpec& spec,
                             Decider& decider) {
            return Derive(*shared, workload, spec, decider);
          }};
}

std::vector<Sketch> EnumerateSketches(const SketchRules& rules,
                                      const Workload& workload,
                                      const DeviceSpec& spec) {
  const Generator generator = SketchGenerator(rules);
  std::vector<Sketch> sketches;
  RulesPolicy policy;
  do {
    Decider decider(policy);
    absl::StatusOr<Schedule> schedule =
        Generate(generator, workload, spec, decider);
    Answers chosen;
    for (const auto& [name, value] : AnswersOf(decider.decisions())) {
      if (absl::EndsWith(name, kRule)) chosen.emplace(name, value);
    }
    sketches.push_back({std::move(chosen), std::move(schedule)});
  } while (policy.Next());
  return sketches;
}

}  // namespace tilewright::sketch
