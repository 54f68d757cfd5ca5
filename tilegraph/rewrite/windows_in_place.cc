#include "tilegraph/rewrite/windows_in_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright {
namespace {

// Whether elements repeat because windows overlap: a position is a sum of that
// of the window and that in it.
bool IsWindows(const TensorGraph& graph, TensorId id, const Move& move) {
  return graph.tensor(id).num_elements() >
             graph.tensor(move.source).num_elements() &&
         std::any_of(move.index.begin(), move.index.end(),
                     [](const Expr& at) { return VarsOf(at).size() > 1; });
}

Expr At(const Expr& of_axes, absl::Span<const Expr> index) {
  return Substitute(of_axes, [&](int axis) { return index[axis]; });
}

class Reading {
 public:
  explicit Reading(const TensorGraph& old)
      : old_(old), consumers_(old.Consumers()) {}

  RewrittenGraph Run() && {
    for (const Tensor& tensor : old_.tensors()) {
      Tensor rewritten = tensor;
      if (tensor.kind == TensorKind::kCompute)
        Follow(tensor, rewritten.compute);
      ids_.push_back(CopyTensor(rewritten, ids_, graph_));
    }
    return FinishRewrite(old_, std::move(graph_), std::move(ids_));
  }

 private:
  // Notes what `tensor` makes of windows; what it makes itself goes to
  // `compute`, over the old graph.
  void Follow(const Tensor& tensor, Compute& compute) {
    if (const std::optional<Move> move = AsMove(old_, tensor.id)) {
      const auto of = windows_.find(move->source);
      if (of != windows_.end()) {
        windows_[tensor.id] = {of->second.source,
                               Positions(of->second, move->index, compute)};
      } else if (IsWindows(old_, tensor.id, *move)) {
        windows_[tensor.id] = *move;
      }
    } else if (!compute.combiner) {
      if (ReadWindows(compute) && compute.body.size() == 1 &&
          consumers_[tensor.id].size() == 1)
        maps_[tensor.id] = compute.body[0];
    } else if (compute.body.size() == 1) {
      SumOfMap(compute);
    }
  }

  // What `windows` reads at `index`, over the axes of `compute`.
  static std::vector<Expr> Positions(const Move& windows,
                                     absl::Span<const Expr> index,
                                     const Compute& compute) {
    std::vector<Expr> positions;
    for (const Expr& at : windows.index)
      positions.push_back(Simplify(At(at, index), AxisRanges(compute)));
    return positions;
  }

  // Has a map read them where they lie; whether it reads any.
  bool ReadWindows(Compute& map) const {
    bool reads = false;
    for (Expr& body : map.body) {
      body = Rewrite(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad || windows_.count(e.source()) == 0)
          return Expr();
        reads = true;
        const Move& of = windows_.at(e.source());
        return Expr::Load(of.source, e.dtype(),
                          Positions(of, e.operands(), map));
      });
    }
    return reads;
  }

  // A reduction of one such map, and of nothing else, makes it term by term.
  void SumOfMap(Compute& sum) const {
    int loads = 0;
    Visit(sum.body[0], [&](const Expr& e) { loads += e.op() == Op::kLoad; });
    if (loads != 1) return;
    sum.body[0] = Rewrite(sum.body[0], [&](const Expr& e) {
      if (e.op() != Op::kLoad || maps_.count(e.source()) == 0) return Expr();
      return Simplify(At(maps_.at(e.source()), e.operands()), AxisRanges(sum));
    });
  }

  const TensorGraph& old_;
  const std::vector<std::vector<TensorId>>& consumers_;
  TensorGraph graph_;
  std::vector<TensorId> ids_;
  std::map<TensorId, Move> windows_;  // by what holds them
  std::map<TensorId, Expr> maps_;     // of windows, each with one reader
};

}  // namespace

RewrittenGraph ReadWindowsInPlace(const TensorGraph& graph) {
  return Reading(graph).Run();
}

}  // namespace tilewright
