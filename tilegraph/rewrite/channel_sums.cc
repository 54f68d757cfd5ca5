#include "tilegraph/rewrite/channel_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright {
namespace {

// What a sum reads: `view` is `image` with its channels in groups of `size`.
struct Groups {
  TensorId view;
  TensorId image;
  int64_t size;
};

std::optional<Groups> AsGroups(const TensorGraph& graph, TensorId id) {
  const Tensor& view = graph.tensor(id);
  if (view.hint.role() != ComputeRole::kReshape) return std::nullopt;
  const TensorId image = graph.Inputs(id)[0];
  const std::vector<int64_t> grouped = view.static_shape();
  std::vector<int64_t> shape = graph.tensor(image).static_shape();
  if (shape.size() < 3 || grouped.size() != shape.size() + 1 ||
      grouped[1] * grouped[2] != shape[1] || grouped[2] == 1)
    return std::nullopt;
  int64_t pixels = 1;
  for (size_t d = 2; d < shape.size(); ++d) pixels *= shape[d];
  shape.insert(shape.begin() + 1, grouped[1]);
  shape[2] = grouped[2];
  if (pixels == 1 || shape != grouped) return std::nullopt;
  return Groups{id, image, grouped[2]};
}

// Whether `load` is at axes 0 and 1 and then at the reduce axes in order.
bool ReadsInOrder(const Expr& load, const std::vector<int64_t>& shape) {
  const int rank = static_cast<int>(shape.size());
  for (int d = 0; d < rank; ++d) {
    const Expr& index = load.operand(d);
    const int axis = d < 2 ? d : rank + d - 2;
    if (index.op() == Op::kVar ? index.var_id() != axis : shape[d] != 1)
      return false;
  }
  return true;
}

// The groups that the compute sums over; nullopt if it does anything else.
std::optional<Groups> SummedGroups(const TensorGraph& graph,
                                   const Tensor& tensor) {
  const Compute& compute = tensor.compute;
  if (tensor.kind != TensorKind::kCompute || !compute.combiner ||
      compute.combiner->kind() != Combiner::Kind::kSum)
    return std::nullopt;
  const size_t rank = compute.axes.size();
  if (rank < 4 || compute.reduce_axes.size() != rank - 2) return std::nullopt;
  std::optional<Groups> groups;
  bool fits = true;
  Visit(compute.body[0], [&](const Expr& e) {
    if (e.op() != Op::kLoad || !fits) return;
    const Tensor& source = graph.tensor(e.source());
    if (source.kind == TensorKind::kCompute && source.shape.size() == rank &&
        (!groups || groups->view == source.id) &&
        ReadsInOrder(e, source.static_shape())) {
      if (!groups) groups = AsGroups(graph, source.id);
      fits = groups.has_value();
      return;
    }
    for (const Expr& index : e.operands())
      fits =
          fits &&
          (index.op() == Op::kConst ||
           (index.op() == Op::kVar && index.var_id() < static_cast<int>(rank)));
  });
  if (!fits || !groups) return std::nullopt;
  const std::vector<int64_t> shape = graph.tensor(groups->view).static_shape();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t wanted = d < 2 ? shape[d] : 1;
    if (compute.axes[d].extent != Dim(wanted)) return std::nullopt;
    if (d >= 2 && compute.reduce_axes[d - 2].extent != Dim(shape[d]))
      return std::nullopt;
  }
  return groups;
}

Expr At(const Compute& compute, int axis) {
  return Expr::Var(axis, AxisAt(compute, static_cast<size_t>(axis)).name);
}

// The sum over the pixels of one channel, of the image's rank.
Compute OverPixels(const Compute& compute, const Groups& groups,
                   const TensorGraph& graph) {
  Compute channels;
  channels.axes = compute.axes;
  channels.axes.erase(channels.axes.begin() + 2);
  channels.axes[1].extent = graph.tensor(groups.image).shape[1];
  channels.reduce_axes = {compute.reduce_axes.begin() + 1,
                          compute.reduce_axes.end()};
  channels.combiner = compute.combiner;
  const int rank = static_cast<int>(channels.axes.size());
  std::vector<Expr> pixel = {At(channels, 0), At(channels, 1)};
  for (int d = 2; d < rank; ++d) pixel.push_back(At(channels, rank + d - 2));
  // Everything else is one value for all of a group.
  const Expr group = FloorDiv(At(channels, 1), Expr::Int(groups.size));
  channels.body = {Rewrite(compute.body[0], [&](const Expr& e) -> Expr {
    if (e.op() != Op::kLoad) return Expr();
    if (e.source() == groups.view) return graph.Load(groups.image, pixel);
    std::vector<Expr> index(e.operands().begin(), e.operands().end());
    for (Expr& at : index) {
      if (at.op() != Op::kVar || at.var_id() == 0) continue;
      at = at.var_id() == 1 ? group : Expr::Int(0);
    }
    return WithOperands(e, std::move(index));
  })};
  return channels;
}

// The sum over the channels of a group.
Compute OverChannels(const Compute& compute, const Groups& groups,
                     TensorId channels, const TensorGraph& graph) {
  Compute sum;
  sum.axes = compute.axes;
  sum.reduce_axes = {compute.reduce_axes[0]};
  sum.combiner = compute.combiner;
  const int rank = static_cast<int>(sum.axes.size());
  std::vector<Expr> index(static_cast<size_t>(rank) - 1, Expr::Int(0));
  index[0] = At(sum, 0);
  index[1] = At(sum, 1) * Expr::Int(groups.size) + At(sum, rank);
  sum.body = {graph.Load(channels, std::move(index))};
  return sum;
}

// How many channels share the element that `load`, in a compute of `shape`,
// reads of each group; 1 if it reads anything else.
int64_t ChannelsOfGroup(const TensorGraph& graph, const Expr& load,
                        const std::vector<Dim>& shape) {
  if (load.op() != Op::kLoad || load.operands().size() < 2) return 1;
  const Tensor& source = graph.tensor(load.source());
  const Expr& group = load.operand(1);
  if (source.kind != TensorKind::kCompute || group.op() != Op::kFloorDiv ||
      group.operand(0).op() != Op::kVar || group.operand(0).var_id() != 1 ||
      group.operand(1).op() != Op::kConst)
    return 1;
  for (size_t d = 2; d < load.operands().size(); ++d) {
    if (source.shape[d] != Dim(1)) return 1;
  }
  const int64_t size = group.operand(1).int_value();
  return source.shape[1].value() * size == shape[1].value() ? size : 1;
}

// Whether the compute goes through more than one pixel of each channel.
bool HasPixels(const Tensor& tensor) {
  const Compute& compute = tensor.compute;
  return !compute.reduce_axes.empty() ||
         std::any_of(compute.axes.begin() + 2, compute.axes.end(),
                     [](const Axis& axis) { return axis.extent != Dim(1); });
}

// `source` with an element for every channel.
Compute Spread(const Tensor& source, int64_t size, const TensorGraph& graph) {
  Compute spread;
  std::vector<Expr> index;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    const std::string name = absl::StrCat("d", d);
    const int64_t extent = source.shape[d].value() * (d == 1 ? size : 1);
    spread.axes.push_back({name, Dim(extent)});
    index.push_back(d < 2 ? Expr::Var(static_cast<int>(d), name)
                          : Expr::Int(0));
  }
  index[1] = FloorDiv(index[1], Expr::Int(size));
  spread.body = {graph.Load(source.id, std::move(index))};
  return spread;
}

}  // namespace

RewrittenGraph SpreadOverChannels(const TensorGraph& graph) {
  TensorGraph result;
  std::vector<TensorId> ids;
  std::map<std::pair<TensorId, int64_t>, TensorId> spread;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute || tensor.shape.size() < 3 ||
        !HasPixels(tensor)) {
      ids.push_back(CopyTensor(tensor, ids, result));
      continue;
    }
    Compute compute = tensor.compute;
    for (Expr& body : compute.body) {
      body = Rewrite(WithSources(body, ids), [&](const Expr& e) -> Expr {
        const int64_t size = ChannelsOfGroup(result, e, tensor.shape);
        if (size == 1) return Expr();
        const auto [at, is_new] = spread.try_emplace({e.source(), size}, -1);
        if (is_new) {
          const Tensor& source = result.tensor(e.source());
          at->second = result.AddCompute(
              absl::StrCat(source.name, ".channels"), source.dtype,
              Spread(source, size, result), "spread");
        }
        std::vector<Expr> index(e.operands().begin(), e.operands().end());
        index[1] = index[1].operand(0);
        return result.Load(at->second, std::move(index));
      });
    }
    ids.push_back(result.AddCompute(tensor.name, tensor.dtype,
                                    std::move(compute), tensor.hint));
  }
  return FinishRewrite(graph, std::move(result), std::move(ids));
}

RewrittenGraph SumChannelsFirst(const TensorGraph& graph) {
  TensorGraph result;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : graph.tensors()) {
    const std::optional<Groups> groups = SummedGroups(graph, tensor);
    if (!groups) {
      ids.push_back(CopyTensor(tensor, ids, result));
      continue;
    }
    Compute channels = OverPixels(tensor.compute, *groups, graph);
    channels.body[0] = WithSources(channels.body[0], ids);
    const TensorId sums = result.AddCompute(
        absl::StrCat(tensor.name, ".channels"), channels.combiner->acc(),
        std::move(channels), tensor.hint);
    ids.push_back(result.AddCompute(
        tensor.name, tensor.dtype,
        OverChannels(tensor.compute, *groups, sums, result), tensor.hint));
  }
  return FinishRewrite(graph, std::move(result), std::move(ids));
}

}  // namespace tilewright
