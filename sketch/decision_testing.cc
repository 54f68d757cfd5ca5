#include "sketch/decision_testing.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "sketch/block_tree.h"
#include "sketch/block_tree_interpreter.h"
#include "sketch/block_tree_verifier.h"
#include "sketch/default_schedule.h"
#include "sketch/generator.h"
#include "sketch/replay.h"
#include "sketch/schedule.h"
#include "sketch/test_workloads.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/host_tensor.h"

namespace tilewright::sketch {
namespace {

struct Made {
  Schedule schedule;
  DecisionTable table;
  BlockTree tree;
};

// Without a value: refused, which is counted.
absl::StatusOr<std::optional<Made>> Make(const Workload& workload,
                                         const DeviceSpec& spec,
                                         DecisionPolicy& policy,
                                         DecisionCounts& counts) {
  Decider decider(policy);
  absl::StatusOr<Schedule> schedule =
      Generate(Generators(workload).front(), workload, spec, decider);
  absl::Status status = schedule.status();
  if (status.ok()) {
    absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
    if (tree.ok()) {
      return Made{*std::move(schedule), decider.decisions(), *std::move(tree)};
    }
    status = tree.status();
  }
  if (!absl::IsInvalidArgument(status)) return status;
  ++counts.refused[std::string(status.message())];
  return std::nullopt;
}

void Count(const DecisionTable& table, DecisionCounts& counts) {
  ++counts.accepted;
  for (const Decision& decision : table) {
    if (decision.space.kind() != Space::Kind::kOneOf) continue;
    const std::vector<std::string>& options = decision.space.options();
    counts.options[decision.name].insert(options.begin(), options.end());
    counts.taken[decision.name].insert(decision.space.Print(decision.value));
  }
}

absl::Status CheckReadBack(const Workload& workload, const DeviceSpec& spec,
                           const Made& made, uint64_t seed) {
  RandomPolicy rest(~seed);
  TablePolicy policy(AnswersOf(made.table), rest);
  Decider decider(policy);
  TW_ASSIGN_OR_RETURN(
      const Schedule again,
      Generate(Generators(workload).front(), workload, spec, decider));
  if (!(again == made.schedule) || !policy.Rounded().empty() ||
      !policy.Unused().empty()) {
    return absl::InternalError(
        absl::StrCat("the table gives another schedule:\n", again.ToString(),
                     "rounded: ", absl::StrJoin(policy.Rounded(), "; "),
                     "\nunused: ", absl::StrJoin(policy.Unused(), "; ")));
  }
  return absl::OkStatus();
}

// Fractions, so that the order of a sum shows in its rounding.
absl::StatusOr<std::map<TensorId, HostTensor>> Results(const Workload& workload,
                                                       const BlockTree& tree) {
  Random random(11);
  std::map<TensorId, HostTensor> inputs;
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const int64_t drawn = random.UniformInt(-3000, 3000);
      value.Set(i, Scalar{static_cast<double>(drawn) / 1000, drawn % 5});
    }
    inputs.emplace(tensor.id, std::move(value));
  }
  return RunBlockTree(tree, workload, inputs, {});
}

absl::Status CheckSameBits(const Workload& workload, const DeviceSpec& spec,
                           uint64_t seed, const Made& preferred,
                           DecisionCounts& counts) {
  Answers kept;
  for (const Decision& decision : preferred.table) {
    if (decision.bits == Bits::kMayChange)
      kept[decision.name] = decision.space.Print(decision.value);
  }
  RandomPolicy random(seed);
  TablePolicy policy(kept, random);
  TW_ASSIGN_OR_RETURN(const std::optional<Made> made,
                      Make(workload, spec, policy, counts));
  if (!made) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const auto wanted, Results(workload, preferred.tree));
  TW_ASSIGN_OR_RETURN(const auto got, Results(workload, made->tree));
  for (const auto& [id, tensor] : wanted) {
    const HostTensor& other = got.at(id);
    if (std::equal(tensor.data(), tensor.data() + tensor.size_bytes(),
                   other.data(), other.data() + other.size_bytes()))
      continue;
    return absl::InternalError(absl::StrCat(
        "decisions that may not change bits do:\n", ToString(made->table)));
  }
  return absl::OkStatus();
}

}  // namespace

std::string DecisionCounts::ToString() const {
  std::string text = absl::StrCat(accepted, " accepted\n");
  for (const auto& [reason, count] : refused)
    absl::StrAppend(&text, count, " refused: ", reason, "\n");
  for (const auto& [name, all] : options) {
    for (const std::string& option : all) {
      if (taken.at(name).count(option) == 0)
        absl::StrAppend(&text, name, " = ", option, " was never taken\n");
    }
  }
  return text;
}

absl::Status CheckDecisions(const Workload& workload, const DeviceSpec& spec,
                            uint64_t seed, DecisionCounts& counts) {
  PreferredPolicy prefer;
  RandomPolicy random(seed);
  TW_ASSIGN_OR_RETURN(const std::optional<Made> preferred,
                      Make(workload, spec, prefer, counts));
  if (!preferred) return absl::InternalError("the rule is refused");
  TW_ASSIGN_OR_RETURN(const std::optional<Made> made,
                      Make(workload, spec, random, counts));
  if (made) {
    Count(made->table, counts);
    absl::Status status = VerifyBlockTree(made->tree);
    if (status.ok()) status = CheckTree(made->tree, workload, seed);
    if (status.ok()) status = CheckReadBack(workload, spec, *made, seed);
    if (!status.ok()) {
      return absl::InternalError(
          absl::StrCat(std::string(status.message()), "\n", workload.Text(),
                       ToString(made->table), made->schedule.ToString(),
                       made->tree.ToString()));
    }
  }
  return CheckSameBits(workload, spec, seed, *preferred, counts);
}

}  // namespace tilewright::sketch
