#include "compiler/cap_memory.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/rewrite/bands/bands.h"
#include "tilegraph/rewrite/bands/choose_bands.h"

namespace tilewright {
namespace {

constexpr size_t kMostRepeats = 4;  // of a copy, in programs

}  // namespace

absl::StatusOr<ImportedModel> CapMemory(const ImportedModel& model,
                                        const CapOptions& options) {
  BandOptions bands;
  bands.cap_bytes = options.arena_bytes;
  if (options.operator_by_operator) bands.most_reductions = 1;
  TW_ASSIGN_OR_RETURN(const BandPlan plan, ChooseBands(model.graph, bands));
  TW_ASSIGN_OR_RETURN(RewrittenGraph rewritten,
                      MakeInBands(model.graph, plan.parts));
  ImportedModel result = model;
  result.graph = std::move(rewritten.graph);
  for (std::vector<Port>* ports : {&result.inputs, &result.outputs}) {
    for (Port& port : *ports) port.tensor = rewritten.ids[port.tensor];
  }
  return result;
}

absl::StatusOr<std::optional<BandMove>> FindBandMove(const TensorGraph& graph,
                                                     const Plan& plan,
                                                     const Group& group) {
  const Tensor& tensor = graph.tensor(group.output);
  if (!IsBandMove(tensor)) return std::nullopt;
  const std::optional<Move> move = AsMove(graph, tensor.id);
  TW_CHECK(move.has_value()) << tensor.name << " is no move";
  std::vector<int64_t> begin;
  for (const Expr& index : move->index)
    begin.push_back(ToLinear(index, [](int) { return std::nullopt; }).constant);
  std::optional<BoxCopy> copy = CopyOfBox(plan.layouts.at(move->source), begin,
                                          plan.layouts.at(tensor.id));
  if (!copy || copy->repeats.size() > kMostRepeats)
    return absl::UnimplementedError(absl::StrCat(
        tensor.name, " lies as ", plan.layouts.at(tensor.id).ToString(), ", ",
        graph.tensor(move->source).name, " as ",
        plan.layouts.at(move->source).ToString(),
        ": moving it is more than a copy"));
  return BandMove{tensor.id, move->source, *std::move(copy)};
}

}  // namespace tilewright
