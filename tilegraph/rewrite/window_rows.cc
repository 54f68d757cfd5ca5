#include "tilegraph/rewrite/window_rows.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"
#include "tilegraph/rewrite/plain_copies.h"

namespace tilewright {
namespace {

const Expr& WithoutCast(const Expr& e) {
  return e.op() == Op::kCast ? e.operand(0) : e;
}

// The axes of a pool along one dimension of its image, those of extent one left
// out: which window, and which place in it.
using AxesOfDim = std::vector<int>;

// The axes that `index` goes through: one, or windows and the places of one;
// nullopt if it is something else, or not all of `extent`.
std::optional<AxesOfDim> AxesOf(const Expr& index, int64_t extent,
                                const Compute& compute) {
  const LinearForm form = ToLinear(index, AxisRanges(compute));
  if (form.constant != 0 || form.terms.size() > 2) return std::nullopt;
  AxesOfDim axes;
  for (const auto& [term, coefficient] : form.terms) {
    if (term.op() != Op::kVar) return std::nullopt;
    if (AxisAt(compute, term.var_id()).extent.value() > 1)
      axes.push_back(term.var_id());
  }
  // The window is a spatial axis, the place in it one of the reduction.
  std::sort(axes.begin(), axes.end());
  const int spatial = static_cast<int>(compute.axes.size());
  if (axes.size() == 2 && (axes[0] >= spatial || axes[1] < spatial))
    return std::nullopt;
  int64_t stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (form.CoefficientOf(*axis) != stride) return std::nullopt;
    stride *= AxisAt(compute, *axis).extent.value();
  }
  if (stride != extent) return std::nullopt;
  return axes;
}

// By dimension of the only tensor that it reads, once, with each axis in one of
// them; nullopt if it is no pool of windows that fill it and do not overlap.
std::optional<std::vector<AxesOfDim>> AsDisjointPool(const TensorGraph& graph,
                                                     const Tensor& tensor) {
  if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner ||
      tensor.compute.body.size() != 1)
    return std::nullopt;
  const Expr& load = WithoutCast(tensor.compute.body[0]);
  if (load.op() != Op::kLoad) return std::nullopt;
  const std::vector<int64_t> shape = graph.tensor(load.source()).static_shape();
  std::vector<AxesOfDim> dims;
  std::set<int> seen;
  bool divides = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    std::optional<AxesOfDim> axes =
        AxesOf(load.operand(static_cast<int>(d)), shape[d], tensor.compute);
    if (!axes) return std::nullopt;
    for (const int axis : *axes) {
      if (!seen.insert(axis).second) return std::nullopt;
    }
    // Sums over groups of channels go through vectors of them (channel_sums.h).
    if (axes->size() == 2 && d == ConvolutionRoles::kChannels)
      return std::nullopt;
    divides |= axes->size() == 2;
    dims.push_back(*std::move(axes));
  }
  if (!divides) return std::nullopt;
  return dims;
}

// `image` with a dimension for each of those axes, and the pool of it.
TensorId AddPool(const Tensor& pool, const std::vector<AxesOfDim>& dims,
                 TensorId image, TensorGraph& graph) {
  Compute windows;
  std::vector<Expr> of_image, of_windows;
  for (const AxesOfDim& axes : dims) {
    Expr index = Expr::Int(0);
    for (const int axis : axes) {
      const Axis& from = AxisAt(pool.compute, axis);
      const int own = static_cast<int>(windows.axes.size());
      index =
          index * Expr::Int(from.extent.value()) + Expr::Var(own, from.name);
      of_windows.push_back(Expr::Var(axis, from.name));
      windows.axes.push_back(from);
    }
    of_image.push_back(Simplify(index, [](int) { return std::nullopt; }));
  }
  const DType dtype = graph.tensor(image).dtype;
  windows.body = {graph.Load(image, std::move(of_image))};
  const TensorId split = graph.AddCompute(
      pool.name + ".windows", dtype, std::move(windows), ComputeRole::kReshape);
  Compute compute = pool.compute;
  Expr load = graph.Load(split, std::move(of_windows));
  compute.body = {pool.compute.body[0].op() == Op::kCast
                      ? WithOperands(pool.compute.body[0], {std::move(load)})
                      : std::move(load)};
  return graph.AddCompute(pool.name, pool.dtype, std::move(compute), pool.hint);
}

}  // namespace

RewrittenGraph SplitIntoWindows(const TensorGraph& old, int64_t channel_block) {
  const std::vector<bool> in_vectors = MadeInVectors(old, channel_block);
  TensorGraph graph;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : old.tensors()) {
    const std::optional<std::vector<AxesOfDim>> dims =
        in_vectors[tensor.id] ? std::nullopt : AsDisjointPool(old, tensor);
    ids.push_back(
        dims ? AddPool(tensor, *dims,
                       ids[WithoutCast(tensor.compute.body[0]).source()], graph)
             : CopyTensor(tensor, ids, graph));
  }
  return FinishRewrite(old, std::move(graph), std::move(ids));
}

}  // namespace tilewright
