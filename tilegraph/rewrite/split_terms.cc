#include "tilegraph/rewrite/split_terms.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/compute_axes.h"
#include "tilegraph/ir/longest_axis.h"

namespace tilewright {
namespace {

// The partial sums: axis 0 is that of the slices, the others move up by one.
Compute PartialSums(const Compute& compute, int64_t slices) {
  const size_t longest = LongestAxis(compute.reduce_axes);
  Compute partial = compute;
  const std::string name = NewAxisName(compute, "slice");
  partial.axes.insert(partial.axes.begin(), {name, Dim(slices)});
  const int64_t terms = compute.reduce_axes[longest].extent.value() / slices;
  partial.reduce_axes[longest].extent = Dim(terms);
  const int split = static_cast<int>(compute.axes.size() + longest);
  const auto moved = [&](int var) {
    const Expr own =
        Expr::Var(var + 1, AxisAt(compute, static_cast<size_t>(var)).name);
    if (var != split) return own;
    return Expr::Make(
        Op::kAdd,
        {Expr::Make(Op::kMul, {Expr::Var(0, name), Expr::Int(terms)}), own});
  };
  for (Expr& body : partial.body) body = Substitute(body, moved);
  return partial;
}

// The sum of all slices of `partial`.
Compute SumOfSlices(const Compute& compute, const Axis& slice, TensorId partial,
                    const TensorGraph& graph) {
  Compute sum;
  sum.axes = compute.axes;
  sum.reduce_axes = {slice};
  sum.combiner = compute.combiner;
  std::vector<Expr> index = {
      Expr::Var(static_cast<int>(sum.axes.size()), slice.name)};
  for (size_t d = 0; d < sum.axes.size(); ++d)
    index.push_back(Expr::Var(static_cast<int>(d), sum.axes[d].name));
  sum.body = {graph.Load(partial, std::move(index))};
  return sum;
}

}  // namespace

bool CanSplitTerms(const Tensor& tensor, int64_t slices) {
  if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner ||
      tensor.compute.combiner->kind() != Combiner::Kind::kSum)
    return false;
  const std::vector<Axis>& axes = tensor.compute.reduce_axes;
  const int64_t terms = axes[LongestAxis(axes)].extent.value();
  return terms % slices == 0 && terms > slices;
}

RewrittenGraph SplitTerms(
    const TensorGraph& graph,
    const std::function<int64_t(const Tensor&)>& slices_of) {
  TensorGraph split;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : graph.tensors()) {
    const int64_t slices = slices_of(tensor);
    if (slices == 1) {
      ids.push_back(CopyTensor(tensor, ids, split));
      continue;
    }
    TW_CHECK(CanSplitTerms(tensor, slices));
    Compute partial = PartialSums(tensor.compute, slices);
    for (Expr& body : partial.body) body = WithSources(body, ids);
    const Axis slice = partial.axes.front();
    const TensorId sums =
        split.AddCompute(absl::StrCat(tensor.name, ".slices"),
                         partial.combiner->acc(), std::move(partial));
    ids.push_back(
        split.AddCompute(tensor.name, tensor.dtype,
                         SumOfSlices(tensor.compute, slice, sums, split)));
  }
  return FinishRewrite(graph, std::move(split), std::move(ids));
}

}  // namespace tilewright
