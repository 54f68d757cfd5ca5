#include "tilegraph/rewrite/bands/band_boxes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/region/region.h"

namespace tilewright {
namespace {

// Clips a region to the tensor. At least one element stays: where none is
// there, guards keep loads away.
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

}  // namespace

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

}  // namespace tilewright
