#include "sketch/rules/window_schedule.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ceil_div.h"
#include "base/memory_units.h"
#include "sketch/rules/shared/annotations.h"
#include "sketch/rules/shared/chain_schedule.h"
#include "sketch/rules/shared/edges.h"
#include "sketch/rules/shared/find_edges.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/tile_decisions.h"
#include "sketch/rules/window_decisions.h"
#include "sketch/rules/window_lanes.h"
#include "sketch/rules/window_tile.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"
#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {
namespace {

// A maximum that lets NaN through and orders zeros takes several instructions
// and registers for their results; sums are one multiply-add or addition.
constexpr double kExtremeOperations = 4;
constexpr int kExtremeTemporaries = 3;
// Channels of small groups are picked out of a vector by a shuffle or two.
constexpr double kShuffledLoad = 2.5;
// Registers of outputs side by side in a stage: rows of a task are short, and
// what borders them is guarded.
constexpr int64_t kMostOutputs = 14;

class Builder : ChainSchedule {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain,
          const ComputeLocation& location)
      : ChainSchedule(workload, spec, chain, location),
        spatial_(static_cast<int>(reduction_.compute.axes.size())) {}

  void Run() {
    const Handle last = WriteInlines();
    tiles_ = StartTiles(workload_, chain_.output);
    const int64_t lanes = Lanes(graph_, spec_);
    unit_ = UnitOf(workload_, chain_.output, lanes);
    const auto axis = AxisOfData(workload_, reduction_.compute, body_,
                                 tiles_.vector_axis, lanes);
    if (axis && !location_.inside) {
      SetVectorAxis(tiles_, *axis);
      unit_ = {std::min(lanes, Extent(*axis)), false};
    }
    DecideTile();
    if (location_.inside) {
      TakeWhole(tiles_);
    } else {
      tiles_.vectors_inside = VectorsFollowAtOnce();
      DecideTasks();
    }
    DecideStepOrder(location_.decider, tiles_);
    OrderReduction();
    if (!location_.inside)
      skipped_ = DecideEdges(location_.decider, workload_, reduction_,
                             FindEdges(workload_, reduction_, body_),
                             [&](const Edge& edge) { return IsFree(edge); });
    PackConstants();
    const Handle task = location_.inside ? *location_.inside
                                         : WriteTasks(writer_, tiles_, last);
    const std::vector<Axis>& names = output_.compute.axes;
    if (reduction_.name == chain_.last) {
      TileReduction(last, names, true);
      TileMap(writer_, tiles_, writer_.CacheWrite(last, "registers"), names,
              false);
      return;
    }
    const Nest nest = TileMap(writer_, tiles_, last, names, true);
    const Handle block = writer_.Block(reduction_.name);
    writer_.ComputeAt(block, nest.steps.empty() ? task : nest.steps.back());
    TileReduction(block, reduction_.compute.axes, false);
    writer_.SetLevel(block, "registers");
  }

 private:
  int64_t Extent(int axis) const { return axis < 0 ? 1 : tiles_.shape[axis]; }

  // The number of a variable in WindowAccess; nullopt: the tile does not move
  // it.
  std::optional<int> AxisOf(int var) const {
    if (var == tiles_.vector_axis) return kVectorAxis;
    if (var == tiles_.row_axis) return kRowAxis;
    if (var == tiles_.outer_row_axis) return kOuterRowAxis;
    if (var >= spatial_) return kFirstReduceAxis + var - spatial_;
    return std::nullopt;
  }

  WindowAccess AccessOf(const Expr& load) const {
    const RangeOf ranges = AxisRanges(reduction_.compute);
    WindowAccess access;
    for (const Expr& index : load.operands()) {
      std::vector<WindowAccess::Term>& dim = access.dims.emplace_back();
      for (const auto& [term, coefficient] : ToLinear(index, ranges).terms) {
        // A term that is no plain axis is only known to move; but channels of
        // one group see the same.
        for (const int var : VarsOf(term)) {
          const std::optional<int> axis = AxisOf(var);
          if (!axis) continue;
          const int64_t group = axis == kVectorAxis &&
                                        term.op() == Op::kFloorDiv &&
                                        term.operand(0).op() == Op::kVar &&
                                        term.operand(1).op() == Op::kConst
                                    ? term.operand(1).int_value()
                                    : 1;
          dim.push_back({*axis, coefficient,
                         std::max<int64_t>(1, group / unit_.elements)});
          if (group > 1 && group < unit_.elements) access.work = kShuffledLoad;
        }
      }
    }
    return access;
  }

  void DecideTile() {
    WindowSpace space;
    space.vectors = CeilDiv(Extent(tiles_.vector_axis), unit_.elements);
    space.rows = Extent(tiles_.row_axis);
    space.outer_rows = Extent(tiles_.outer_row_axis);
    for (const Axis& axis : reduction_.compute.reduce_axes)
      space.reduce.push_back(axis.extent.value());
    ForEachLoad(body_, [&](const Expr& load) {
      space.accesses.push_back(AccessOf(load));
    });
    for (const Expr& value : body_) space.guarded |= value.op() == Op::kSelect;
    space.registers = static_cast<int>(spec_.unit().vector_registers());
    space.registers_per_unit =
        static_cast<int>(CeilDiv(unit_.elements, Lanes(graph_, spec_)));
    if (reduction_.compute.combiner->kind() != Combiner::Kind::kSum) {
      space.operations = kExtremeOperations;
      space.temporaries = kExtremeTemporaries;
    }
    space.long_runs = location_.streams;
    if (location_.inside) {
      space.most_outputs = kMostOutputs;
      // By value: spaces of decisions outlive this run.
      space.allowed = [bounds = location_.bounds, tiles = tiles_,
                       elements = unit_.elements](const WindowTile& tile) {
        const auto allow = [&](int axis, int64_t size) {
          return axis < 0 || bounds.Allow(axis, size, tiles.shape[axis]);
        };
        return allow(tiles.vector_axis, tile.vectors * elements) &&
               allow(tiles.row_axis, tile.rows) &&
               allow(tiles.outer_row_axis, tile.outer_rows);
      };
    }
    std::optional<TileTasks> tasks;
    if (!location_.inside) {
      tasks = TileTasks{1, spec_.unit().cores(), 1};
      for (size_t i = 0; i < tiles_.shape.size(); ++i) {
        const int axis = static_cast<int>(i);
        if (axis != tiles_.vector_axis && axis != tiles_.row_axis &&
            axis != tiles_.outer_row_axis)
          tasks->others *= tiles_.shape[i];
      }
    }
    const WindowTile tile = DecideWindowTile(location_.decider, space, tasks);
    unrolled_ = tile.unrolled;
    wide_ = tile.vectors > 1;
    SetVectors(tiles_, unit_, tile.vectors);
    if (tiles_.row_axis >= 0) tiles_.axes[tiles_.row_axis].tile = tile.rows;
    if (tiles_.outer_row_axis >= 0)
      tiles_.axes[tiles_.outer_row_axis].tile = tile.outer_rows;
  }

  void DecideTasks() {
    int64_t operations = 2;
    for (const Axis& axis : reduction_.compute.reduce_axes)
      operations *= axis.extent.value();
    const TaskBudget budget = BudgetOf(tiles_, spec_, operations);
    if (tiles_.vectors_inside) {
      DecideSteps(location_.decider, tiles_, spec_,
                  {tiles_.vector_axis, tiles_.row_axis, tiles_.outer_row_axis},
                  budget);
      return;
    }
    DecideSteps(location_.decider, tiles_, spec_,
                {tiles_.row_axis, tiles_.outer_row_axis}, budget);
    // Nothing is used again along the vector axis: one tile, by preference.
    const OutputTiles rule = tiles_;
    DecideSteps(location_.decider, tiles_, spec_, {tiles_.vector_axis}, rule);
  }

  // Whether the tile behind this one along the vector axis comes next: of an
  // image that comes from far, what both touch lies in the same lines, or the
  // next ones. Otherwise, and in stages, one tile goes over the whole image:
  // filters stay in registers, and rows of the image in a private cache.
  bool VectorsFollowAtOnce() const {
    if (unit_.blocked || tiles_.TilesLeft(tiles_.vector_axis) == 1)
      return false;
    bool far = false;
    ForEachLoad(body_, [&](const Expr& load) {
      far |= IsFar(graph_.tensor(load.source()), spec_);
    });
    bool whole = true;
    for (size_t i = 0; i < unrolled_.size(); ++i)
      whole &= unrolled_[i] == reduction_.compute.reduce_axes[i].extent.value();
    const int64_t bytes = Extent(tiles_.vector_axis) * SizeBytes(output_.dtype);
    return far && (whole || bytes % kLineBytes != 0);
  }

  // The loops over steps of reduce axes, and the unrolled ones.
  void OrderReduction() {
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
    std::vector<int> looped;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int axis = static_cast<int>(i);
      if (unrolled_[i] > 1) taps_.push_back(axis);
      if (unrolled_[i] < axes[i].extent.value()) looped.push_back(axis);
    }
    // In the order of what they read: so each window sees it in this order
    // too.
    std::stable_sort(taps_.begin(), taps_.end(), [&](int a, int b) {
      return StrideOf(spatial_ + a) > StrideOf(spatial_ + b);
    });
    looped = DecideReduceOrder(location_.decider, "reduce.order", looped);
    taps_ = DecideReduceOrder(location_.decider, "taps.order", taps_);
    // Axes of one step stay where they are.
    auto next = looped.begin();
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t extent = axes[i].extent.value();
      if (extent == 1) loops_.push_back(static_cast<int>(i));
      if (unrolled_[i] < extent) loops_.push_back(*next++);
    }
  }

  // Whether leaving out steps takes no code of its own: all outputs and taps
  // along the edge are laid out in a row, or none are, and a loop skips them.
  bool IsFree(const Edge& edge) const {
    bool row = true, loop = true;
    for (const int axis : VarsOf(edge.index)) {
      const int64_t extent =
          axis < spatial_
              ? tiles_.shape[axis]
              : reduction_.compute.reduce_axes[axis - spatial_].extent.value();
      const int64_t tile =
          axis < spatial_ ? tiles_.axes[axis].tile : unrolled_[axis - spatial_];
      row &= tile == extent;
      loop &= tile == 1;
    }
    return (row || loop) && !Mentions(edge.index, tiles_.vector_axis);
  }

  // The dimension of a load's source that the vector axis alone indexes, -1 if
  // there is none.
  int PanelDim(const Expr& load) const {
    int panel = -1;
    for (size_t d = 0; d < load.operands().size(); ++d) {
      const Expr& index = load.operand(static_cast<int>(d));
      if (index.op() == Op::kVar && index.var_id() == tiles_.vector_axis)
        panel = static_cast<int>(d);
    }
    return panel;
  }

  // Panels of constants that vary along the vector axis, window positions side
  // by side.
  void PackConstants() {
    bool any = false;
    ForEachLoad(body_, [&](const Expr& load) {
      any |= graph_.tensor(load.source()).kind == TensorKind::kConstant &&
             PanelDim(load) >= 0;
    });
    if (!any) return;
    const WindowPack pack = DecideWindowPack(location_.decider, wide_);
    if (pack == WindowPack::kPlain) return;
    const AxisTile& vector = tiles_.axes[tiles_.vector_axis];
    const int64_t width = pack == WindowPack::kVector
                              ? unit_.elements
                              : vector.vectors * vector.tile;
    std::set<TensorId> done;
    ForEachLoad(body_, [&](const Expr& load) {
      const Tensor& constant = graph_.tensor(load.source());
      if (constant.kind != TensorKind::kConstant ||
          !done.insert(constant.id).second)
        return;
      const int panel = PanelDim(load);
      if (panel < 0) return;
      const std::vector<int64_t> shape = constant.static_shape();
      std::vector<Layout::Digit> digits = {
          {panel, width, CeilDiv(shape[panel], width)}};
      for (int dim = 0; dim < static_cast<int>(shape.size()); ++dim) {
        if (dim != panel) digits.push_back({dim, 1, shape[dim]});
      }
      digits.push_back({panel, 1, width});
      const std::vector<int64_t> none(shape.size(), 0);
      const absl::StatusOr<Layout> layout =
          Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
      if (layout.ok()) writer_.SetLayout(constant.name, layout->ToString());
    });
  }

  // How far apart two elements of the operand lie whose places in the window
  // are neighbours.
  int64_t StrideOf(int var) const {
    int64_t stride = 0;
    ForEachLoad(body_, [&](const Expr& load) {
      if (stride != 0 ||
          graph_.tensor(load.source()).kind == TensorKind::kConstant)
        return;
      const Expr offset =
          workload_.LayoutOf(load.source()).Offset(load.operands());
      const auto at = [&](int64_t value) {
        return EvalIndex(offset, [&](int v) { return v == var ? value : 0; });
      };
      stride = std::abs(at(1) - at(0));
    });
    return stride;
  }

  void TileReduction(Handle block, const std::vector<Axis>& names,
                     bool whole_task) {
    const Nest nest = CutSpatial(writer_, tiles_, block, names, whole_task);
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
    std::vector<Handle> loop(axes.size()), taps(axes.size());  // by axis
    for (size_t i = 0; i < axes.size(); ++i) {
      loop[i] = taps[i] = writer_.Loop(block, axes[i].name);
      const int64_t extent = axes[i].extent.value(), part = unrolled_[i];
      if (part == 1 || part == extent) continue;
      const std::vector<Handle> parts =
          writer_.Split(loop[i], Factors{CeilDiv(extent, part), part});
      loop[i] = parts[0];
      taps[i] = parts[1];
    }
    std::vector<Handle> order = nest.steps;
    for (const int axis : loops_) order.push_back(loop[axis]);
    for (const int axis : taps_) order.push_back(taps[axis]);
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    if (order.size() > 1) writer_.Reorder(order);
    SkipZeros(writer_, block, skipped_);
    for (const int axis : taps_) writer_.Annotate(taps[axis], "unroll");
    writer_.Annotate(nest.tile.front(), "tile");
  }

  const int spatial_;  // axes of the output
  OutputTiles tiles_;
  VectorUnit unit_ = {};
  bool wide_ = false;              // a tile has several vectors
  std::vector<int64_t> unrolled_;  // by reduce axis: steps inside the tile
  std::vector<int> loops_, taps_;  // reduce axes, outermost first
  std::vector<SkippedZeros> skipped_;
};

}  // namespace

bool IsWindow(const Workload& workload, const Chain& chain) {
  if (!chain.reduction) return false;
  const Compute& compute = workload.graph.tensor(*chain.reduction).compute;
  if (compute.combiner->arity() != 1) return false;
  const int spatial = static_cast<int>(compute.axes.size());
  bool slides = false, moves = true;
  ForEachLoad(
      InlinedBody(workload.graph, *chain.reduction), [&](const Expr& load) {
        if (workload.graph.tensor(load.source()).kind == TensorKind::kConstant)
          return;
        std::set<int> all;
        for (const Expr& index : load.operands()) {
          bool output = false, window = false;
          for (const int var : VarsOf(index)) {
            all.insert(var);
            const bool reduced = var >= spatial;
            const Axis& axis = reduced ? compute.reduce_axes[var - spatial]
                                       : compute.axes[var];
            if (axis.extent.value() > 1) (reduced ? window : output) = true;
          }
          slides |= output && window;
        }
        for (int axis = 0; axis < spatial; ++axis)
          moves &=
              compute.axes[axis].extent.value() == 1 || all.count(axis) > 0;
      });
  return slides && moves;
}

void WriteWindow(const Workload& workload, const DeviceSpec& spec,
                 const Chain& chain, const ComputeLocation& location) {
  Builder(workload, spec, chain, location).Run();
}

}  // namespace tilewright::sketch
