#include "tilegraph/rewrite/nest_concatenations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/join_parts.h"

namespace tilewright {
namespace {

using Parts = std::vector<TensorId>;

// A kernel that puts together more takes compilers long, and chooses among them
// for every element; so many are put together by others before.
constexpr size_t kMostParts = 32;

class Nesting {
 public:
  explicit Nesting(const TensorGraph& old)
      : old_(old), outputs_(old.outputs().begin(), old.outputs().end()) {}

  RewrittenGraph Run() && {
    for (const Tensor& tensor : old_.tensors())
      ids_.push_back(Rewritten(tensor));
    return FinishRewrite(old_, std::move(graph_), std::move(ids_));
  }

 private:
  TensorId Rewritten(const Tensor& tensor) {
    const auto whole = AsConcatenation(old_, tensor.id);
    if (!whole) return CopyTensor(tensor, ids_, graph_);
    Parts parts;
    for (const Concatenation::Part& part : whole->parts)
      parts.push_back(part.source);
    Parts nested = parts;
    if (MayBeWritten(parts)) {
      nested = Nested(parts, whole->axis);
      if (outputs_.count(tensor.id) == 0)
        known_[{whole->axis, parts[0]}].emplace_back(tensor.id, parts);
    }
    if (nested.size() == parts.size() && parts.size() <= kMostParts)
      return CopyTensor(tensor, ids_, graph_);
    for (TensorId& part : nested) part = ids_[part];
    return Joined(tensor, nested, whole->axis);
  }

  // Whether each of them is computed where it is wanted.
  bool MayBeWritten(const Parts& parts) const {
    return std::set<TensorId>(parts.begin(), parts.end()).size() ==
               parts.size() &&
           std::all_of(parts.begin(), parts.end(), [&](TensorId part) {
             return old_.tensor(part).kind == TensorKind::kCompute &&
                    outputs_.count(part) == 0 && !AsMove(old_, part) &&
                    !AsZeroPadding(old_, part);
           });
  }

  // `parts` with the longest known runs of them in their place.
  Parts Nested(const Parts& parts, int axis) const {
    Parts nested;
    for (auto next = parts.begin(); next != parts.end();) {
      size_t length = 1;
      TensorId instead = *next;
      const auto known = known_.find({axis, *next});
      for (size_t i = 0; known != known_.end() && i < known->second.size();
           ++i) {
        const auto& [whole, run] = known->second[i];
        if (run.size() > length && run.size() < parts.size() &&
            run.size() <= static_cast<size_t>(parts.end() - next) &&
            std::equal(run.begin(), run.end(), next))
          length = run.size(), instead = whole;
      }
      nested.push_back(instead);
      next += static_cast<std::ptrdiff_t>(length);
    }
    return nested;
  }

  // `parts`, of the new graph, behind each other: a few, each of them a few.
  TensorId Joined(const Tensor& tensor, Parts parts, int axis) {
    while (parts.size() > kMostParts) {
      Parts wholes;
      for (size_t begin = 0; begin < parts.size(); begin += kMostParts) {
        const auto first = parts.begin() + static_cast<std::ptrdiff_t>(begin);
        const Parts few(first, first + static_cast<std::ptrdiff_t>(std::min(
                                           kMostParts, parts.size() - begin)));
        wholes.push_back(few.size() == 1 ? few[0]
                                         : JoinedAs(tensor.name + ".part",
                                                    tensor, few, axis));
      }
      parts = std::move(wholes);
    }
    return JoinedAs(tensor.name, tensor, parts, axis);
  }

  // A tensor like `tensor`, but for its extent along the axis.
  TensorId JoinedAs(const std::string& name, const Tensor& tensor,
                    const Parts& parts, int axis) {
    std::vector<int64_t> offsets;
    int64_t end = 0;
    for (const TensorId part : parts) {
      offsets.push_back(end);
      end += graph_.tensor(part).shape[axis].value();
    }
    Compute compute = tensor.compute;
    compute.axes[axis].extent = Dim(end);
    std::vector<Expr> index;
    for (size_t d = 0; d < compute.axes.size(); ++d)
      index.push_back(Expr::Var(static_cast<int>(d), compute.axes[d].name));
    compute.body = {
        JoinParts(offsets, axis, index, [&](size_t part, std::vector<Expr> at) {
          return graph_.Load(parts[part], std::move(at));
        })};
    return graph_.AddCompute(name, tensor.dtype, std::move(compute),
                             tensor.hint);
  }

  const TensorGraph& old_;
  const std::set<TensorId> outputs_;
  TensorGraph graph_;
  std::vector<TensorId> ids_;
  // By axis and first part: the whole and its parts, of the old graph.
  std::map<std::pair<int, TensorId>, std::vector<std::pair<TensorId, Parts>>>
      known_;
};

}  // namespace

RewrittenGraph NestConcatenations(const TensorGraph& graph) {
  return Nesting(graph).Run();
}

}  // namespace tilewright
