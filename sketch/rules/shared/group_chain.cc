#include "sketch/rules/shared/group_chain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sketch/trace/sums_apart.h"

namespace tilewright::sketch {

absl::StatusOr<Chain> FindChain(const TensorGraph& graph) {
  if (graph.outputs().size() != 1)
    return absl::InvalidArgumentError(
        "a default schedule is for groups with one output");
  Chain chain;
  chain.output = graph.outputs()[0];
  std::vector<std::string> blocks;
  std::string reduction;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    blocks.push_back(tensor.name);
    if (!tensor.compute.combiner.has_value()) continue;
    if (chain.reduction)
      return absl::InvalidArgumentError(absl::StrCat(
          tensor.name, " reduces, and so does ", reduction, " before it"));
    chain.reduction = tensor.id;
    reduction = tensor.name;
    if (HasSumsApart(tensor)) blocks.push_back(CopyOutOf(tensor));
  }
  if (blocks.empty())
    return absl::InvalidArgumentError("the group computes nothing");
  chain.last = blocks.back();
  blocks.pop_back();
  blocks.erase(std::remove(blocks.begin(), blocks.end(), reduction),
               blocks.end());
  chain.inlined = std::move(blocks);
  return chain;
}

std::vector<Expr> InlinedBody(const TensorGraph& graph, TensorId tensor) {
  std::vector<Expr> body = graph.tensor(tensor).compute.body;
  for (Expr& one : body) {
    one = Rewrite(one, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return Expr();
      const Tensor& source = graph.tensor(e.source());
      if (source.kind != TensorKind::kCompute || source.compute.combiner)
        return Expr();
      const Expr value = InlinedBody(graph, source.id)[0];
      return Substitute(value.dtype() == source.dtype
                            ? value
                            : Expr::Cast(source.dtype, value),
                        [&](int axis) { return e.operand(axis); });
    });
  }
  return body;
}

void ForEachLoad(absl::Span<const Expr> body,
                 const std::function<void(const Expr&)>& fn) {
  for (const Expr& one : body) {
    Visit(one, [&](const Expr& e) {
      if (e.op() == Op::kLoad) fn(e);
    });
  }
}

}  // namespace tilewright::sketch
