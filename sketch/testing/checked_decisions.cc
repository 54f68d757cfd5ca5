#include "sketch/testing/checked_decisions.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_interpreter.h"
#include "sketch/tree/block_tree_verifier.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::sketch {
namespace {

using Draw = Scalar (*)(Random&);

// Numbers so far apart that most sums of them lose bits even in double: every
// order of terms gives another result.
Scalar DrawDistant(Random& random) {
  const double sign = random.Bernoulli(0.5) ? 1 : -1;
  const auto exponent = static_cast<int>(random.UniformInt(0, 2)) * 35;
  const auto digits = static_cast<double>(random.UniformInt(1, 1 << 20));
  return {std::ldexp(sign * digits, exponent), random.UniformInt(-4, 4)};
}

// Fractions, whose functions neither overflow nor vanish.
Scalar DrawFraction(Random& random) {
  const int64_t drawn = random.UniformInt(-3000, 3000);
  return {static_cast<double>(drawn) / 1000, drawn % 5};
}

absl::StatusOr<std::map<TensorId, HostTensor>> RunOn(Draw draw,
                                                     const Workload& workload,
                                                     const Schedule& schedule,
                                                     uint64_t seed) {
  TW_ASSIGN_OR_RETURN(const BlockTree tree, Replay(workload, schedule));
  Random random(seed);
  std::map<TensorId, HostTensor> inputs;
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < value.num_elements(); ++i)
      value.Set(i, draw(random));
    inputs.emplace(tensor.id, std::move(value));
  }
  FillKnownZeros(workload.zeros, inputs);
  return RunBlockTree(tree, workload, inputs, {});
}

// Elements that differ in their bits.
int64_t Differences(const std::map<TensorId, HostTensor>& a,
                    const std::map<TensorId, HostTensor>& b) {
  int64_t count = 0;
  for (const auto& [id, tensor] : a) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const Scalar x = tensor.Get(i), y = b.at(id).Get(i);
      count += std::memcmp(&x.f, &y.f, sizeof(x.f)) != 0 || x.i != y.i ? 1 : 0;
    }
  }
  return count;
}

// Random answers, but the preferred ones to what may change bits.
void CheckBits(const Generator& generator, const Workload& workload,
               const DeviceSpec& spec, uint64_t seed) {
  PreferredPolicy preferred;
  Decider by_rule(preferred);
  const absl::StatusOr<Schedule> rule =
      Generate(generator, workload, spec, by_rule);
  ASSERT_THAT(rule.status(), IsOk());
  DecisionTable kept;
  for (const Decision& decision : by_rule.decisions()) {
    if (decision.bits == Bits::kMayChange) kept.push_back(decision);
  }
  RandomPolicy random(seed);
  TablePolicy policy(AnswersOf(kept), random);
  Decider decider(policy);
  const absl::StatusOr<Schedule> schedule =
      Generate(generator, workload, spec, decider);
  EXPECT_EQ(policy.Rounded(), std::vector<std::string>());
  if (!schedule.ok() || !Replay(workload, *schedule).ok()) return;
  for (const Draw draw : {DrawDistant, DrawFraction}) {
    const auto expected = RunOn(draw, workload, *rule, seed);
    const auto results = RunOn(draw, workload, *schedule, seed);
    ASSERT_THAT(expected.status(), IsOk());
    ASSERT_THAT(results.status(), IsOk());
    EXPECT_EQ(Differences(*expected, *results), 0)
        << rule->ToString() << schedule->ToString();
  }
}

}  // namespace

std::string DecisionTally::ToString() const {
  std::string text = absl::StrCat(schedules, " schedules\n");
  for (const auto& [reason, count] : refusals)
    absl::StrAppend(&text, count, " refused: ", reason, "\n");
  for (const auto& [name, taken] : values)
    absl::StrAppend(&text, name, ": ", taken.size(), " values\n");
  for (const std::string& option : NeverTaken())
    absl::StrAppend(&text, option, " was never taken\n");
  return text;
}

std::vector<std::string> DecisionTally::NeverTaken() const {
  std::vector<std::string> never;
  for (const auto& [name, all] : options) {
    for (const std::string& option : all) {
      if (values.at(name).count(option) == 0)
        never.push_back(absl::StrCat(name, " = ", option));
    }
  }
  return never;
}

void CheckDecisions(const Generator& generator, const Workload& workload,
                    const DeviceSpec& spec, uint64_t seed,
                    DecisionTally& tally) {
  SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", workload.Text()));
  RandomPolicy random(seed);
  Decider decider(random);
  const absl::StatusOr<Schedule> schedule =
      Generate(generator, workload, spec, decider);
  absl::Status status = schedule.status();
  if (schedule.ok()) {
    RandomPolicy rest(~seed);
    TablePolicy table(AnswersOf(decider.decisions()), rest);
    Decider again(table);
    const absl::StatusOr<Schedule> same =
        Generate(generator, workload, spec, again);
    ASSERT_THAT(same.status(), IsOk());
    EXPECT_EQ(same->ToString(), schedule->ToString());
    EXPECT_EQ(table.Rounded(), std::vector<std::string>());
    EXPECT_EQ(table.Unused(), std::vector<std::string>());
    const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
    status = tree.status();
    if (tree.ok()) {
      ++tally.schedules;
      for (const Decision& decision : decider.decisions()) {
        tally.values[decision.name].insert(
            decision.space.Print(decision.value));
        if (decision.space.kind() != Space::Kind::kOneOf) continue;
        const std::vector<std::string>& options = decision.space.options();
        tally.options[decision.name].insert(options.begin(), options.end());
      }
      EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << schedule->ToString();
      EXPECT_THAT(CheckTree(*tree, workload, seed), IsOk())
          << schedule->ToString() << tree->ToString();
    }
  }
  if (!status.ok()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    ++tally.refusals[std::string(status.message())];
  }
  CheckBits(generator, workload, spec, seed);
}

}  // namespace tilewright::sketch
