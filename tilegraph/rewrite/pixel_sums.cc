#include "tilegraph/rewrite/pixel_sums.h"

#include <optional>
#include <utility>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright {
namespace {

// The sum over its only axis of several terms; nullopt if it is no such
// convolution.
std::optional<Compute> AsPixelSum(const TensorGraph& graph,
                                  const Tensor& tensor) {
  if (tensor.kind != TensorKind::kCompute ||
      tensor.hint.role() != ComputeRole::kConvolution ||
      !IsFloat(tensor.dtype) ||
      tensor.shape[ConvolutionRoles::kChannels] != Dim(1))
    return std::nullopt;
  Compute sum = tensor.compute;
  sum.reduce_axes.clear();
  std::vector<Expr> terms;  // by old axis
  const int spatial = static_cast<int>(sum.axes.size());
  for (const Axis& axis : tensor.compute.reduce_axes) {
    if (axis.extent == Dim(1)) {
      terms.push_back(Expr::Int(0));
      continue;
    }
    terms.push_back(Expr::Var(
        spatial + static_cast<int>(sum.reduce_axes.size()), axis.name));
    sum.reduce_axes.push_back(axis);
  }
  const auto roles = AsConvolution(graph, tensor.id);
  if (!roles || !roles->dense || sum.reduce_axes.size() != 1)
    return std::nullopt;
  bool of_pixels = true;
  for (Expr& body : sum.body) {
    body = Simplify(
        Substitute(body,
                   [&](int axis) {
                     return axis < spatial
                                ? Expr()
                                : terms[static_cast<size_t>(axis - spatial)];
                   }),
        AxisRanges(sum));
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return;
      for (const Expr& index : e.operands())
        of_pixels &= index.op() == Op::kVar || index.op() == Op::kConst;
    });
  }
  return of_pixels ? std::make_optional(std::move(sum)) : std::nullopt;
}

}  // namespace

RewrittenGraph SumChannelsOfPixels(const TensorGraph& old) {
  TensorGraph graph;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : old.tensors()) {
    std::optional<Compute> sum = AsPixelSum(old, tensor);
    if (!sum) {
      ids.push_back(CopyTensor(tensor, ids, graph));
      continue;
    }
    for (Expr& body : sum->body) body = WithSources(body, ids);
    ids.push_back(
        graph.AddCompute(tensor.name, tensor.dtype, *std::move(sum), "pixel"));
  }
  return FinishRewrite(old, std::move(graph), std::move(ids));
}

}  // namespace tilewright
