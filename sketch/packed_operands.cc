#include "sketch/packed_operands.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ceil_div.h"
#include "sketch/group_chain.h"
#include "tilegraph/layout.h"

namespace tilewright::sketch {
namespace {

// Axis ordinal -> the dimension it indexes alone; nullopt if some dimension is
// indexed by anything but an axis of its own.
std::optional<std::map<int, int>> DimOfAxis(const Expr& load) {
  std::map<int, int> dims;
  for (size_t d = 0; d < load.operands().size(); ++d) {
    const Expr& index = load.operand(static_cast<int>(d));
    if (index.op() != Op::kVar ||
        !dims.emplace(index.var_id(), static_cast<int>(d)).second)
      return std::nullopt;
  }
  return dims;
}

// Panels, then the terms in the order of the loops, then a panel's width, then
// the terms of a group.
std::optional<Layout> PanelLayout(const std::vector<int64_t>& shape,
                                  const std::map<int, int>& dims, int spatial,
                                  const OutputTiles& tiles,
                                  const ReduceLoops& loops) {
  const auto vector = dims.find(tiles.vector_axis);
  if (vector == dims.end()) return std::nullopt;
  const AxisTile& tile = tiles.axes[tiles.vector_axis];
  const int64_t width = tile.vectors * tile.tile;
  std::vector<Layout::Digit> digits;
  for (const auto& [axis, dim] : dims) {
    if (axis >= spatial) continue;
    digits.push_back(axis == tiles.vector_axis
                         ? Layout::Digit{dim, width, CeilDiv(shape[dim], width)}
                         : Layout::Digit{dim, 1, shape[dim]});
  }
  const auto add_terms = [&](const ReduceLoops::Part& part) {
    const auto dim = dims.find(spatial + part.axis);
    if (dim != dims.end())
      digits.push_back({dim->second, loops.divisor(part), loops.extent(part)});
  };
  const size_t outer = loops.order.size() - (loops.grouped ? 1 : 0);
  for (size_t i = 0; i < outer; ++i) add_terms(loops.order[i]);
  digits.push_back({vector->second, 1, width});
  if (loops.grouped) add_terms(loops.order.back());
  const std::vector<int64_t> none(shape.size(), 0);
  const absl::StatusOr<Layout> layout =
      Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
  if (!layout.ok()) return std::nullopt;
  return *layout;
}

}  // namespace

void PackConstants(ScheduleWriter& writer, const TensorGraph& graph,
                   const Tensor& reduction, absl::Span<const Expr> body,
                   const OutputTiles& tiles, const ReduceLoops& loops) {
  const int spatial = static_cast<int>(reduction.compute.axes.size());
  std::set<TensorId> done;
  ForEachLoad(body, [&](const Expr& load) {
    const Tensor& constant = graph.tensor(load.source());
    if (constant.kind != TensorKind::kConstant ||
        !done.insert(constant.id).second)
      return;
    const auto dims = DimOfAxis(load);
    if (!dims) return;
    const std::optional<Layout> layout =
        PanelLayout(constant.static_shape(), *dims, spatial, tiles, loops);
    if (layout) writer.SetLayout(constant.name, layout->ToString());
  });
}

}  // namespace tilewright::sketch
