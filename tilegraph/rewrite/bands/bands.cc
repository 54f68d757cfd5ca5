#include "tilegraph/rewrite/bands/bands.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/rewrite/bands/band_boxes.h"

namespace tilewright {
namespace {

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
                             tensor.dtype, std::move(compute),
                             ComputeRole::kBandIn);
  }

  TensorId MoveOut(TensorId piece, std::string name) {
    Compute compute;
    compute.axes = graph_.tensor(piece).compute.axes;
    std::vector<Expr> index;
    for (size_t d = 0; d < compute.axes.size(); ++d)
      index.push_back(Expr::Var(static_cast<int>(d), compute.axes[d].name));
    compute.body = {graph_.Load(piece, std::move(index))};
    return graph_.AddCompute(std::move(name), graph_.tensor(piece).dtype,
                             std::move(compute), ComputeRole::kBandOut);
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
  const std::vector<std::vector<TensorId>>& consumers = graph.Consumers();
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

}  // namespace tilewright
