#include "tilegraph/bands.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/access.h"
#include "tilegraph/buffer_plan.h"
#include "tilegraph/region.h"
#include "tilegraph/simplify.h"

namespace tilewright {
namespace {

// Elements [begin, begin + extent) of every dimension.
struct Box {
  std::vector<int64_t> begin, extent;

  int64_t elements() const {
    int64_t count = 1;
    for (const int64_t e : extent) count *= e;
    return count;
  }
};

absl::Status CheckPart(const TensorGraph& graph, const BandedPart& part,
                       const std::vector<std::vector<TensorId>>& consumers) {
  if (part.members.empty())
    return absl::InvalidArgumentError("a part in bands has no members");
  const std::set<TensorId> members(part.members.begin(), part.members.end());
  const std::set<TensorId> outputs(graph.outputs().begin(),
                                   graph.outputs().end());
  for (const TensorId member : part.members) {
    const Tensor& tensor = graph.tensor(member);
    if (tensor.kind != TensorKind::kCompute)
      return absl::InvalidArgumentError(
          absl::StrCat(tensor.name, " is in bands and computes nothing"));
    if (member == part.members.back()) continue;
    const bool leaves =
        outputs.count(member) > 0 ||
        std::any_of(consumers[member].begin(), consumers[member].end(),
                    [&](TensorId reader) { return !members.count(reader); });
    if (leaves)
      return absl::InvalidArgumentError(absl::StrCat(
          tensor.name, " is in bands and is read outside of them"));
  }
  const Tensor& output = graph.tensor(part.members.back());
  if (part.dim < 0 || part.dim >= static_cast<int>(output.shape.size()) ||
      part.rows < 1)
    return absl::InvalidArgumentError(absl::StrCat(
        "bands of ", part.rows, " along dimension ", part.dim, " of ",
        output.name, ", which has ", output.shape.size(), " dimensions"));
  return absl::OkStatus();
}

// What there is of a region. At least one element: where none is there, guards
// keep loads away.
absl::StatusOr<Box> Clip(const Region& region, const Tensor& tensor) {
  Box box;
  const std::vector<int64_t> shape = tensor.static_shape();
  const RangeOf none = [](int) { return std::nullopt; };
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::optional<Range> base = RangeOfExpr(region[d].base, none);
    if (!base || base->min != base->max)
      return absl::UnimplementedError(absl::StrCat(
          "cannot tell which part of ", tensor.name, " a band needs"));
    const int64_t begin =
        std::min(std::max<int64_t>(0, base->min), shape[d] - 1);
    const int64_t end = std::min(
        shape[d], base->min + (region[d].extent - 1) * region[d].step + 1);
    box.begin.push_back(begin);
    box.extent.push_back(std::max<int64_t>(1, end - begin));
  }
  return box;
}

void Widen(Box& box, const Box& more) {
  for (size_t d = 0; d < box.begin.size(); ++d) {
    const int64_t end =
        std::max(box.begin[d] + box.extent[d], more.begin[d] + more.extent[d]);
    box.begin[d] = std::min(box.begin[d], more.begin[d]);
    box.extent[d] = end - box.begin[d];
  }
}

// By tensor: members, and what they read that is no member. Whole boxes, also
// where a reader skips elements: what is computed there must find its operands.
absl::StatusOr<std::map<TensorId, Box>> BoxesOf(const TensorGraph& graph,
                                                const BandedPart& part,
                                                int64_t row) {
  const RangeOf none = [](int) { return std::nullopt; };
  const Tensor& output = graph.tensor(part.members.back());
  std::map<TensorId, Box> boxes;
  Box& tile = boxes[output.id];
  tile.extent = output.static_shape();
  tile.begin.assign(tile.extent.size(), 0);
  tile.begin[part.dim] = row;
  tile.extent[part.dim] = std::min(part.rows, tile.extent[part.dim] - row);
  for (auto member = part.members.rbegin(); member != part.members.rend();
       ++member) {
    const auto box = boxes.find(*member);
    if (box == boxes.end()) continue;
    std::vector<RegionDim> axes;
    for (size_t d = 0; d < box->second.begin.size(); ++d) {
      RegionDim& axis = axes.emplace_back();
      axis.base = Expr::Int(box->second.begin[d]);
      axis.extent = box->second.extent[d];
    }
    for (const Axis& axis : graph.tensor(*member).compute.reduce_axes) {
      axes.push_back({Expr::Int(0)});
      axes.back().extent = axis.extent.value();
    }
    TW_ASSIGN_OR_RETURN(const auto regions,
                        PropagateOne(graph, *member, axes, none));
    for (const auto& [id, region] : regions) {
      TW_ASSIGN_OR_RETURN(Box needed, Clip(region, graph.tensor(id)));
      const auto [known, added] = boxes.insert({id, needed});
      if (!added) Widen(known->second, needed);
    }
  }
  return boxes;
}

class Rewriter {
 public:
  explicit Rewriter(const TensorGraph& old) : old_(old), ids_(old.size(), -1) {}

  void Copy(const Tensor& tensor) {
    ids_[tensor.id] = CopyTensor(tensor, ids_, graph_);
  }

  absl::Status Add(const BandedPart& part) {
    const Tensor& output = old_.tensor(part.members.back());
    const int64_t rows = output.shape[part.dim].value();
    std::vector<TensorId> pieces;
    for (int64_t row = 0; row < rows; row += part.rows) {
      const int64_t band = row / part.rows;
      TW_ASSIGN_OR_RETURN(const auto boxes, BoxesOf(old_, part, row));
      const TensorId piece = Band(part, boxes, band);
      if (part.rows >= rows) {
        ids_[output.id] = MoveOut(piece, output.name);
        return absl::OkStatus();
      }
      pieces.push_back(MoveOut(piece, absl::StrCat(output.name, ".out", band)));
    }
    ids_[output.id] = graph_.AddCompute(
        output.name, output.dtype, Whole(output, part.dim, part.rows, pieces));
    return absl::OkStatus();
  }

  RewrittenGraph Finish() && {
    return FinishRewrite(old_, std::move(graph_), std::move(ids_));
  }

 private:
  // Axes over `box`, named as those of `tensor` where it has some.
  static std::vector<Axis> AxesOver(const Tensor& tensor, const Box& box) {
    std::vector<Axis> axes;
    for (size_t d = 0; d < box.extent.size(); ++d) {
      std::string name = tensor.kind == TensorKind::kCompute
                             ? tensor.compute.axes[d].name
                             : absl::StrCat("d", d);
      axes.push_back({std::move(name), Dim(box.extent[d])});
    }
    return axes;
  }

  TensorId MoveIn(const Tensor& tensor, const Box& box, int64_t band) {
    Compute compute;
    compute.axes = AxesOver(tensor, box);
    std::vector<Expr> index;
    for (size_t d = 0; d < box.extent.size(); ++d)
      index.push_back(Expr::Var(static_cast<int>(d), compute.axes[d].name) +
                      Expr::Int(box.begin[d]));
    compute.body = {graph_.Load(ids_[tensor.id], std::move(index))};
    return graph_.AddCompute(absl::StrCat(tensor.name, ".in", band),
                             tensor.dtype, std::move(compute), kBandInHint);
  }

  TensorId MoveOut(TensorId piece, std::string name) {
    Compute compute;
    compute.axes = graph_.tensor(piece).compute.axes;
    std::vector<Expr> index;
    for (size_t d = 0; d < compute.axes.size(); ++d)
      index.push_back(Expr::Var(static_cast<int>(d), compute.axes[d].name));
    compute.body = {graph_.Load(piece, std::move(index))};
    return graph_.AddCompute(std::move(name), graph_.tensor(piece).dtype,
                             std::move(compute), kBandOutHint);
  }

  // `tensor` over `box`, from what `here` holds.
  TensorId Piece(const Tensor& tensor, const Box& box,
                 const std::map<TensorId, std::pair<TensorId, Box>>& here,
                 int64_t band) {
    Compute compute = tensor.compute;
    compute.axes = AxesOver(tensor, box);
    const size_t spatial = compute.axes.size();
    const RangeOf ranges = [&](int var) -> std::optional<Range> {
      const size_t axis = static_cast<size_t>(var);
      if (var < 0 || axis >= spatial + compute.reduce_axes.size())
        return std::nullopt;
      const Axis& one = axis < spatial ? compute.axes[axis]
                                       : compute.reduce_axes[axis - spatial];
      return Range{0, one.extent.value() - 1};
    };
    for (Expr& body : compute.body) {
      body = Substitute(body, [&](int var) {
        const size_t axis = static_cast<size_t>(var);
        const bool own = axis < spatial;
        const Expr self =
            Expr::Var(var, own ? compute.axes[axis].name
                               : compute.reduce_axes[axis - spatial].name);
        return own && box.begin[axis] > 0 ? self + Expr::Int(box.begin[axis])
                                          : self;
      });
      body = Rewrite(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad) return Expr();
        const auto held = here.find(e.source());
        std::vector<Expr> index(e.operands().begin(), e.operands().end());
        if (held == here.end())
          return Expr::Load(ids_[e.source()], e.dtype(), std::move(index));
        const auto& [id, region] = held->second;
        for (size_t d = 0; d < index.size(); ++d) {
          if (region.begin[d] > 0)
            index[d] = index[d] - Expr::Int(region.begin[d]);
        }
        return Expr::Load(id, e.dtype(), std::move(index));
      });
      body = Simplify(body, ranges);
    }
    return graph_.AddCompute(absl::StrCat(tensor.name, ".", band), tensor.dtype,
                             std::move(compute), tensor.hint);
  }

  TensorId Band(const BandedPart& part, const std::map<TensorId, Box>& boxes,
                int64_t band) {
    const std::set<TensorId> members(part.members.begin(), part.members.end());
    std::map<TensorId, std::pair<TensorId, Box>> here;
    for (const auto& [id, box] : boxes) {
      const Tensor& tensor = old_.tensor(id);
      if (!members.count(id) && tensor.kind != TensorKind::kConstant)
        here[id] = {MoveIn(tensor, box, band), box};
    }
    for (const TensorId member : part.members) {
      const auto box = boxes.find(member);
      if (box == boxes.end()) continue;  // no band needs it
      here[member] = {Piece(old_.tensor(member), box->second, here, band),
                      box->second};
    }
    return here.at(part.members.back()).first;
  }

  // The pieces behind each other: a balanced tree of selects.
  Compute Whole(const Tensor& output, int dim, int64_t rows,
                const std::vector<TensorId>& pieces) {
    Compute compute;
    compute.axes = output.compute.axes;
    const auto axis = [&](int d) { return Expr::Var(d, compute.axes[d].name); };
    const auto load = [&](size_t piece) {
      std::vector<Expr> index;
      for (int d = 0; d < static_cast<int>(compute.axes.size()); ++d)
        index.push_back(axis(d));
      if (piece > 0)
        index[dim] = index[dim] - Expr::Int(static_cast<int64_t>(piece) * rows);
      return graph_.Load(pieces[piece], std::move(index));
    };
    const std::function<Expr(size_t, size_t)> between = [&](size_t begin,
                                                            size_t end) {
      if (end - begin == 1) return load(begin);
      const size_t middle = begin + (end - begin) / 2;
      return Expr::Make(
          Op::kSelect,
          {Expr::Make(
               Op::kLt,
               {axis(dim), Expr::Int(static_cast<int64_t>(middle) * rows)}),
           between(begin, middle), between(middle, end)});
    };
    compute.body = {between(0, pieces.size())};
    return compute;
  }

  const TensorGraph& old_;
  TensorGraph graph_;
  std::vector<TensorId> ids_;  // by tensor of the old graph
};

}  // namespace

absl::StatusOr<RewrittenGraph> MakeInBands(const TensorGraph& graph,
                                           absl::Span<const BandedPart> parts) {
  const std::vector<std::vector<TensorId>> consumers = graph.Consumers();
  std::map<TensorId, const BandedPart*> part_of;
  for (const BandedPart& part : parts) {
    TW_RETURN_IF_ERROR(CheckPart(graph, part, consumers));
    for (const TensorId member : part.members) {
      if (!part_of.insert({member, &part}).second)
        return absl::InvalidArgumentError(absl::StrCat(
            graph.tensor(member).name, " is in two parts in bands"));
    }
  }
  Rewriter rewriter(graph);
  for (const Tensor& tensor : graph.tensors()) {
    const auto part = part_of.find(tensor.id);
    if (part == part_of.end()) {
      rewriter.Copy(tensor);
    } else if (tensor.id == part->second->members.back()) {
      TW_RETURN_IF_ERROR(rewriter.Add(*part->second));
    }
  }
  return std::move(rewriter).Finish();
}

namespace {

// In whose memory the tensors of a part lie: paddings and other moves in that
// of what they read, parts of a concatenation in that of the whole. As plans
// have it (plan_draft.h, ChooseViews).
std::map<TensorId, TensorId> HoldersOf(const TensorGraph& graph,
                                       const BandedPart& part) {
  std::map<TensorId, TensorId> holders;
  const auto holder = [&](TensorId id) {
    for (auto at = holders.find(id); at != holders.end(); at = holders.find(id))
      id = at->second;
    return id;
  };
  for (const TensorId member : part.members) {
    TensorId source = -1;
    if (const std::optional<ZeroPadding> padding = AsZeroPadding(graph, member))
      source = padding->source;
    if (const std::optional<Move> move = AsMove(graph, member))
      source = move->source;
    if (source >= 0 && graph.tensor(source).kind != TensorKind::kConstant)
      holders[member] = source;
    const std::optional<Concatenation> whole = AsConcatenation(graph, member);
    if (!whole) continue;
    for (const Concatenation::Part& one : whole->parts) {
      const TensorId held = holder(one.source);
      if (held == one.source && held != member &&
          graph.tensor(held).kind != TensorKind::kConstant)
        holders[held] = member;
    }
  }
  std::map<TensorId, TensorId> resolved;
  for (const auto& [id, next] : holders) resolved[id] = holder(next);
  return resolved;
}

}  // namespace

absl::StatusOr<BandedCost> CostOfBands(const TensorGraph& graph,
                                       const BandedPart& part) {
  TW_RETURN_IF_ERROR(CheckPart(graph, part, graph.Consumers()));
  const std::set<TensorId> members(part.members.begin(), part.members.end());
  const TensorId output = part.members.back();
  const std::map<TensorId, TensorId> holders = HoldersOf(graph, part);
  const int end = static_cast<int>(part.members.size());
  // By tensor: the member, by position, that makes it and the last to read it.
  std::map<TensorId, std::pair<int, int>> used;
  for (int i = 0; i < end; ++i) {
    used[part.members[i]] = {i, part.members[i] == output ? end : i};
    for (const TensorId input : graph.Inputs(part.members[i]))
      used.insert({input, {0, i}}).first->second.second = i;
  }
  BandedCost cost;
  const int64_t rows = graph.tensor(output).shape[part.dim].value();
  for (int64_t row = 0; row < rows; row += part.rows) {
    TW_ASSIGN_OR_RETURN(const auto boxes, BoxesOf(graph, part, row));
    std::map<TensorId, BufferLifetime> alive;
    for (const auto& [id, box] : boxes) {
      const Tensor& tensor = graph.tensor(id);
      const int64_t bytes = box.elements() * SizeBytes(tensor.dtype);
      const bool member = members.count(id) > 0;
      if (member) cost.points += static_cast<double>(box.elements());
      if (!member && tensor.kind == TensorKind::kConstant) {
        if (row == 0)
          cost.constant_bytes +=
              tensor.num_elements() * SizeBytes(tensor.dtype);
        continue;
      }
      if (!member || id == output) cost.moved_bytes += bytes;
      const auto [first, last] = used.at(id);
      const auto held = holders.find(id);
      const auto [at, added] = alive.insert(
          {held == holders.end() ? id : held->second, {bytes, first, last}});
      if (added) continue;
      BufferLifetime& buffer = at->second;
      buffer = {std::max(buffer.size_bytes, bytes),
                std::min(buffer.first, first), std::max(buffer.last, last)};
    }
    std::vector<BufferLifetime> lifetimes;
    for (const auto& [id, buffer] : alive) lifetimes.push_back(buffer);
    cost.band_bytes =
        std::max(cost.band_bytes, PlaceBuffers(lifetimes).arena_bytes);
  }
  return cost;
}

}  // namespace tilewright
