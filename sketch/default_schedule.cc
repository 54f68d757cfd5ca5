#include "sketch/default_schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/register_tile.h"

namespace tilewright::sketch {
namespace {

// Work of one task: enough to hide its start, little enough to balance.
constexpr int64_t kOperationsPerTask = int64_t{2} << 20;
constexpr int64_t kTasksPerCore = 8;
constexpr int64_t kDefaultL2Bytes = int64_t{1} << 20;
constexpr int64_t kPageBytes = 4096;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The computes of a group, in order.
struct Chain {
  std::optional<TensorId> reduction;  // the first, if it reduces
  std::vector<std::string> inlined;   // blocks that go into the last one
  std::string last;                   // block that writes the output
  TensorId output;
};

absl::StatusOr<Chain> FindChain(const TensorGraph& graph) {
  if (graph.outputs().size() != 1)
    return absl::InvalidArgumentError(
        "a default schedule is for groups with one output");
  Chain chain;
  chain.output = graph.outputs()[0];
  std::vector<std::string> blocks;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    const bool reduces = tensor.compute.combiner.has_value();
    if (reduces && !blocks.empty())
      return absl::InvalidArgumentError(absl::StrCat(
          tensor.name, " reduces and is not the group's first compute"));
    blocks.push_back(tensor.name);
    if (!reduces) continue;
    chain.reduction = tensor.id;
    const Combiner& combiner = *tensor.compute.combiner;
    // Accumulators of another type or arity are copied out by a block of that
    // name.
    if (combiner.arity() != 1 || combiner.component_dtype(0) != tensor.dtype)
      blocks.push_back(absl::StrCat(tensor.name, ".out"));
  }
  if (blocks.empty())
    return absl::InvalidArgumentError("the group computes nothing");
  chain.last = blocks.back();
  blocks.pop_back();
  if (chain.reduction && !blocks.empty()) blocks.erase(blocks.begin());
  chain.inlined = std::move(blocks);
  return chain;
}

// How one axis of the output is cut: tasks, then steps inside a task, then the
// tile; the vector axis of a blocked layout has a two-part tile.
struct AxisTile {
  int64_t steps = 1;
  int64_t vectors = 1;  // blocks, for the vector axis of a blocked layout
  int64_t tile = 1;     // elements of the innermost part

  int64_t per_task() const { return steps * vectors * tile; }
};

class Builder {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        output_(graph_.tensor(chain.output)),
        shape_(output_.static_shape()) {}

  Schedule Run() {
    for (const std::string& block : chain_.inlined)
      writer_.ComputeInline(writer_.Block(block));
    const Handle last = writer_.Block(chain_.last);
    if (shape_.empty()) return std::move(writer_).Finish();
    ChooseTile();
    ChooseTasks();
    if (chain_.reduction) PackConstants();
    std::vector<Decision> tiles;
    for (size_t i = 0; i < shape_.size(); ++i) {
      tiles.push_back(SplitDecision(
          absl::StrCat("task.", i), shape_[i],
          {CeilDiv(shape_[i], axes_[i].per_task()), axes_[i].per_task()}));
    }
    const Handle innermost_task = writer_.GroupTile({last}, tiles).back();
    const bool alone = chain_.reduction &&
                       graph_.tensor(*chain_.reduction).name == chain_.last;
    const std::vector<Axis>& names = output_.compute.axes;
    if (alone) {
      TileReduction(last, names, true);
      TileMap(writer_.CacheWrite(last, "registers"), names, false);
      return std::move(writer_).Finish();
    }
    const Nest nest = TileMap(last, names, true);
    if (chain_.reduction) {
      const Tensor& reduction = graph_.tensor(*chain_.reduction);
      const Handle block = writer_.Block(reduction.name);
      writer_.ComputeAt(
          block, nest.steps.empty() ? innermost_task : nest.steps.back());
      TileReduction(block, reduction.compute.axes, false);
      writer_.SetLevel(block, "registers");
    }
    return std::move(writer_).Finish();
  }

 private:
  // The dimension whose neighbours lie side by side, and how many of them do.
  struct Contiguous {
    int dim;
    int64_t extent;
  };
  Contiguous FindContiguous() const {
    const Layout layout = workload_.LayoutOf(chain_.output);
    for (auto digit = layout.digits().rbegin(); digit != layout.digits().rend();
         ++digit) {
      if (digit->extent > 1) return {digit->dim, digit->extent};
    }
    return {static_cast<int>(shape_.size()) - 1, 1};
  }

  // Bytes of the widest element that a lane holds.
  int64_t LaneBytes() const {
    int64_t bytes = SizeBytes(output_.dtype);
    for (const Tensor& tensor : graph_.tensors())
      bytes = std::max(bytes, tensor.kind == TensorKind::kConstant
                                  ? 1
                                  : SizeBytes(tensor.dtype));
    if (chain_.reduction)
      bytes =
          std::max(bytes, SizeBytes(graph_.tensor(*chain_.reduction)
                                        .compute.combiner->component_dtype(0)));
    return bytes;
  }

  int64_t ReducedExtent() const {
    int64_t extent = 1;
    if (!chain_.reduction) return extent;
    for (const Axis& axis :
         graph_.tensor(*chain_.reduction).compute.reduce_axes)
      extent *= axis.extent.value();
    return extent;
  }

  // Whether an operand of the reduction that is indexed by the row axis keeps
  // its rows a page or more apart.
  bool RowsFarApart() const {
    if (!chain_.reduction || row_axis_ < 0) return false;
    bool far = false;
    ForEachLoad(graph_.tensor(*chain_.reduction).compute,
                [&](const Expr& load) {
                  const Layout layout = workload_.LayoutOf(load.source());
                  for (size_t d = 0; d < load.operands().size(); ++d) {
                    const Expr& index = load.operand(static_cast<int>(d));
                    if (index.op() != Op::kVar || index.var_id() != row_axis_)
                      continue;
                    for (size_t i = 0; i < layout.digits().size(); ++i) {
                      if (layout.digits()[i].dim == static_cast<int>(d) &&
                          layout.digits()[i].div == 1) {
                        far |= layout.stride(static_cast<int>(i)) *
                                   SizeBytes(load.dtype()) >=
                               kPageBytes;
                      }
                    }
                  }
                });
    return far;
  }

  void ChooseTile() {
    axes_.assign(shape_.size(), {});
    const Contiguous contiguous = FindContiguous();
    vector_axis_ = contiguous.dim;
    for (int i = static_cast<int>(shape_.size()) - 1; i >= 0; --i) {
      if (i == vector_axis_ || shape_[i] == 1) continue;
      if (row_axis_ < 0) {
        row_axis_ = i;
      } else if (outer_row_axis_ < 0) {
        outer_row_axis_ = i;
      }
    }
    const int64_t lanes =
        std::max<int64_t>(1, spec_.unit().vector_bytes() / LaneBytes());
    const bool blocked = contiguous.extent < shape_[vector_axis_];
    const int64_t unit =
        blocked ? contiguous.extent : std::min(lanes, shape_[vector_axis_]);
    TileSpace space;
    space.vectors = CeilDiv(shape_[vector_axis_], unit);
    space.rows = row_axis_ < 0 ? 1 : shape_[row_axis_];
    space.outer_rows = outer_row_axis_ < 0 ? 1 : shape_[outer_row_axis_];
    space.registers = static_cast<int>(spec_.unit().vector_registers());
    space.registers_per_unit = static_cast<int>(CeilDiv(unit, lanes));
    space.accumulates = chain_.reduction.has_value();
    space.rows_far_apart = RowsFarApart();
    const RegisterTile tile = ChooseRegisterTile(space);
    AxisTile& vector = axes_[vector_axis_];
    vector.vectors = blocked ? tile.vectors : 1;
    vector.tile =
        blocked ? unit : std::min(tile.vectors * unit, shape_[vector_axis_]);
    if (row_axis_ >= 0) axes_[row_axis_].tile = tile.rows;
    if (outer_row_axis_ >= 0) axes_[outer_row_axis_].tile = tile.outer_rows;
  }

  int64_t L2Bytes() const {
    for (const MemoryLevel& level : spec_.levels()) {
      if (level.name() == "l2" && level.capacity_bytes() > 0)
        return level.capacity_bytes();
    }
    return kDefaultL2Bytes;
  }

  // Tiles along `axis` that no task has taken yet.
  int64_t TilesLeft(int axis) const {
    return CeilDiv(shape_[axis], axes_[axis].per_task());
  }

  // Rows first: what a task loads for the vector axis serves all of them.
  void ChooseTasks() {
    int64_t tiles = 1, operations = 2 * ReducedExtent();
    for (size_t i = 0; i < shape_.size(); ++i) {
      tiles *= TilesLeft(static_cast<int>(i));
      operations *= axes_[i].per_task();
    }
    const int64_t cores = std::max<int64_t>(1, spec_.unit().cores());
    int64_t most = std::max<int64_t>(1, tiles / (kTasksPerCore * cores));
    int64_t wanted = std::max<int64_t>(
        1, kOperationsPerTask / std::max<int64_t>(1, operations));
    // Where rows come before vectors in the order of tasks, each task sees the
    // other operand anew: take as many rows as stay in L2.
    if (chain_.reduction && row_axis_ >= 0 && row_axis_ < vector_axis_) {
      const int64_t row_bytes =
          axes_[row_axis_].tile * ReducedExtent() * LaneBytes();
      wanted =
          std::max(wanted, L2Bytes() / 2 / std::max<int64_t>(1, row_bytes));
    }
    for (const int axis :
         {row_axis_, outer_row_axis_, chain_.reduction ? -1 : vector_axis_}) {
      if (axis < 0) continue;
      axes_[axis].steps =
          std::min({TilesLeft(axis), std::max<int64_t>(1, wanted),
                    std::max<int64_t>(1, most)});
      wanted /= axes_[axis].steps;
      most /= axes_[axis].steps;
    }
  }

  // One reduce loop, or the two parts of one whose operand is blocked.
  struct ReduceSplit {
    int axis;
    int64_t block = 1;
  };

  std::vector<ReduceSplit> ReduceSplits() const {
    const Tensor& reduction = graph_.tensor(*chain_.reduction);
    const int spatial = static_cast<int>(reduction.compute.axes.size());
    std::vector<ReduceSplit> splits;
    for (size_t r = 0; r < reduction.compute.reduce_axes.size(); ++r) {
      ReduceSplit split{static_cast<int>(r), 1};
      const int64_t extent = reduction.compute.reduce_axes[r].extent.value();
      ForEachLoad(reduction.compute, [&](const Expr& load) {
        if (graph_.tensor(load.source()).kind == TensorKind::kConstant) return;
        for (size_t d = 0; d < load.operands().size(); ++d) {
          const Expr& index = load.operand(static_cast<int>(d));
          if (index.op() != Op::kVar ||
              index.var_id() != spatial + static_cast<int>(r))
            continue;
          const Layout layout = workload_.LayoutOf(load.source());
          const Layout::Digit& last = layout.digits().back();
          if (last.dim == static_cast<int>(d) && last.extent < extent &&
              extent % last.extent == 0)
            split.block = last.extent;
        }
      });
      splits.push_back(split);
    }
    return splits;
  }

  template <typename Fn>
  static void ForEachLoad(const Compute& compute, const Fn& fn) {
    for (const Expr& body : compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad) fn(e);
      });
    }
  }

  // Constants of the reduction that vary along the vector axis are laid out as
  // the loops read them: panels as wide as the tile.
  void PackConstants() {
    const Tensor& reduction = graph_.tensor(*chain_.reduction);
    const int spatial = static_cast<int>(reduction.compute.axes.size());
    const int64_t width =
        axes_[vector_axis_].vectors * axes_[vector_axis_].tile;
    std::set<TensorId> done;
    ForEachLoad(reduction.compute, [&](const Expr& load) {
      const Tensor& constant = graph_.tensor(load.source());
      if (constant.kind != TensorKind::kConstant ||
          !done.insert(constant.id).second)
        return;
      std::vector<int> axis_of_dim;
      std::set<int> axes;
      for (const Expr& index : load.operands()) {
        if (index.op() != Op::kVar || !axes.insert(index.var_id()).second)
          return;
        axis_of_dim.push_back(index.var_id());
      }
      if (!axes.count(vector_axis_)) return;
      const std::vector<int64_t> shape = constant.static_shape();
      const auto dim_of = [&](int axis) {
        const auto found =
            std::find(axis_of_dim.begin(), axis_of_dim.end(), axis);
        return found == axis_of_dim.end()
                   ? -1
                   : static_cast<int>(found - axis_of_dim.begin());
      };
      std::vector<Layout::Digit> digits;
      for (int axis = 0; axis < spatial; ++axis) {
        const int dim = dim_of(axis);
        if (dim < 0) continue;
        digits.push_back(
            axis == vector_axis_
                ? Layout::Digit{dim, width, CeilDiv(shape[dim], width)}
                : Layout::Digit{dim, 1, shape[dim]});
      }
      for (const auto& [axis, divisor, extent] : ReduceOrder()) {
        const int dim = dim_of(spatial + axis);
        if (dim >= 0) digits.push_back({dim, divisor, extent});
      }
      digits.push_back({dim_of(vector_axis_), 1, width});
      const std::vector<int64_t> none(shape.size(), 0);
      const absl::StatusOr<Layout> layout =
          Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
      if (layout.ok()) writer_.SetLayout(constant.name, layout->ToString());
    });
  }

  struct ReduceLoop {
    int axis;
    int64_t divisor;
    int64_t extent;
  };
  // Outer parts of blocked axes, whole axes, inner parts.
  std::vector<ReduceLoop> ReduceOrder() const {
    const std::vector<Axis>& axes =
        graph_.tensor(*chain_.reduction).compute.reduce_axes;
    std::vector<ReduceLoop> order;
    const std::vector<ReduceSplit> splits = ReduceSplits();
    for (const ReduceSplit& split : splits) {
      if (split.block > 1)
        order.push_back({split.axis, split.block,
                         axes[split.axis].extent.value() / split.block});
    }
    for (const ReduceSplit& split : splits) {
      if (split.block == 1)
        order.push_back({split.axis, 1, axes[split.axis].extent.value()});
    }
    for (const ReduceSplit& split : splits) {
      if (split.block > 1) order.push_back({split.axis, 1, split.block});
    }
    return order;
  }

  // The loops over the spatial axes of one block, cut into steps and tile.
  struct Nest {
    std::vector<Handle> steps;
    std::vector<Handle> tile;
  };

  // `whole_task`: the block's loops cover a task, steps included; otherwise one
  // tile.
  Nest CutSpatial(Handle block, const std::vector<Axis>& names, bool whole_task,
                  const std::string& prefix) {
    std::vector<Handle> step(shape_.size(), -1), inner(shape_.size(), -1),
        vectors(shape_.size(), -1);
    for (size_t i = 0; i < shape_.size(); ++i) {
      const AxisTile& axis = axes_[i];
      Handle loop = writer_.Loop(block, names[i].name);
      const auto split = [&](const char* what, int64_t outer, int64_t extent) {
        const std::vector<Handle> parts =
            writer_.Split(loop, SplitDecision(absl::StrCat(prefix, what, i),
                                              outer * extent, {outer, extent}));
        loop = parts[1];
        return parts[0];
      };
      if (whole_task && axis.steps > 1)
        step[i] = split("step.", axis.steps, axis.vectors * axis.tile);
      if (axis.vectors > 1)
        vectors[i] = split("vectors.", axis.vectors, axis.tile);
      inner[i] = loop;
    }
    Nest nest;
    const auto add = [](std::vector<Handle>& to, Handle loop) {
      if (loop >= 0) to.push_back(loop);
    };
    for (size_t i = 0; i < shape_.size(); ++i) {
      const int axis = static_cast<int>(i);
      if (axis != vector_axis_ && axis != row_axis_ && axis != outer_row_axis_)
        nest.steps.push_back(inner[i]);
    }
    for (const int axis : {vector_axis_, outer_row_axis_, row_axis_}) {
      if (axis >= 0) add(nest.steps, step[axis]);
    }
    if (outer_row_axis_ >= 0) add(nest.tile, inner[outer_row_axis_]);
    add(nest.tile, vectors[vector_axis_]);
    if (row_axis_ >= 0) add(nest.tile, inner[row_axis_]);
    add(nest.tile, inner[vector_axis_]);
    return nest;
  }

  void Arrange(const std::vector<Handle>& order, Handle first_of_tile) {
    if (order.size() > 1) writer_.Reorder(order);
    writer_.Annotate(first_of_tile, "tile");
  }

  Nest TileMap(Handle block, const std::vector<Axis>& names, bool whole_task) {
    const Nest nest =
        CutSpatial(block, names, whole_task, whole_task ? "out." : "copy.");
    std::vector<Handle> order = nest.steps;
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    Arrange(order, nest.tile.front());
    return nest;
  }

  void TileReduction(Handle block, const std::vector<Axis>& names,
                     bool whole_task) {
    const Nest nest = CutSpatial(block, names, whole_task, "acc.");
    std::vector<Handle> order = nest.steps;
    std::vector<std::vector<Handle>>
        reduce;  // by reduce axis: outer part if split, inner part
    const std::vector<ReduceSplit> splits = ReduceSplits();
    const std::vector<Axis>& axes =
        graph_.tensor(*chain_.reduction).compute.reduce_axes;
    for (const ReduceSplit& split : splits) {
      const Handle loop = writer_.Loop(block, axes[split.axis].name);
      const int64_t extent = axes[split.axis].extent.value();
      reduce.push_back(
          split.block == 1
              ? std::vector<Handle>{loop}
              : writer_.Split(
                    loop,
                    SplitDecision(absl::StrCat("reduce.", split.axis), extent,
                                  {extent / split.block, split.block}, false)));
    }
    for (const ReduceLoop& loop : ReduceOrder())
      order.push_back(loop.divisor > 1 ? reduce[loop.axis].front()
                                       : reduce[loop.axis].back());
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    Arrange(order, nest.tile.front());
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  const Tensor& output_;
  const std::vector<int64_t> shape_;
  std::vector<AxisTile> axes_;
  int vector_axis_ = -1;
  int row_axis_ = -1;        // the innermost other axis
  int outer_row_axis_ = -1;  // the next one
  ScheduleWriter writer_;
};

}  // namespace

absl::StatusOr<Schedule> DefaultSchedule(const Workload& workload,
                                         const DeviceSpec& spec) {
  TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(workload.graph));
  return Builder(workload, spec, chain).Run();
}

}  // namespace tilewright::sketch
