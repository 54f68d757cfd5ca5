#include "sketch/contraction_schedule.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sketch/output_tiles.h"
#include "sketch/register_tile.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kDefaultL2Bytes = int64_t{1} << 20;
constexpr int64_t kPageBytes = 4096;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Builder {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        output_(graph_.tensor(chain.output)),
        reduction_(graph_.tensor(*chain.reduction)),
        body_(InlinedBody(graph_, *chain.reduction)) {}

  Schedule Run() {
    for (const std::string& block : chain_.inlined)
      writer_.ComputeInline(writer_.Block(block));
    const Handle last = writer_.Block(chain_.last);
    if (output_.shape.empty()) return std::move(writer_).Finish();
    tiles_ = StartTiles(workload_, chain_.output);
    ChooseTile();
    ChooseTasks();
    PackConstants();
    const Handle innermost_task = WriteTasks(writer_, tiles_, last);
    const std::vector<Axis>& names = output_.compute.axes;
    if (reduction_.name == chain_.last) {
      TileReduction(last, names, true);
      TileMap(writer_, tiles_, writer_.CacheWrite(last, "registers"), names,
              false);
      return std::move(writer_).Finish();
    }
    const Nest nest = TileMap(writer_, tiles_, last, names, true);
    const Handle block = writer_.Block(reduction_.name);
    writer_.ComputeAt(block,
                      nest.steps.empty() ? innermost_task : nest.steps.back());
    TileReduction(block, reduction_.compute.axes, false);
    writer_.SetLevel(block, "registers");
    return std::move(writer_).Finish();
  }

 private:
  int64_t ReducedExtent() const {
    int64_t extent = 1;
    for (const Axis& axis : reduction_.compute.reduce_axes)
      extent *= axis.extent.value();
    return extent;
  }

  // Whether an operand of the reduction that is indexed by the row axis keeps
  // its rows a page or more apart.
  bool RowsFarApart() const {
    if (tiles_.row_axis < 0) return false;
    bool far = false;
    ForEachLoad(body_, [&](const Expr& load) {
      const Layout layout = workload_.LayoutOf(load.source());
      for (size_t d = 0; d < load.operands().size(); ++d) {
        const Expr& index = load.operand(static_cast<int>(d));
        if (index.op() != Op::kVar || index.var_id() != tiles_.row_axis)
          continue;
        for (size_t i = 0; i < layout.digits().size(); ++i) {
          if (layout.digits()[i].dim == static_cast<int>(d) &&
              layout.digits()[i].div == 1) {
            far |=
                layout.stride(static_cast<int>(i)) * SizeBytes(load.dtype()) >=
                kPageBytes;
          }
        }
      }
    });
    return far;
  }

  int64_t Extent(int axis) const { return axis < 0 ? 1 : tiles_.shape[axis]; }

  void ChooseTile() {
    const int64_t lanes = Lanes(graph_, spec_);
    const VectorUnit unit = UnitOf(workload_, chain_.output, lanes);
    TileSpace space;
    space.vectors = CeilDiv(Extent(tiles_.vector_axis), unit.elements);
    space.rows = Extent(tiles_.row_axis);
    space.outer_rows = Extent(tiles_.outer_row_axis);
    space.registers = static_cast<int>(spec_.unit().vector_registers());
    space.registers_per_unit = static_cast<int>(CeilDiv(unit.elements, lanes));
    space.rows_far_apart = RowsFarApart();
    const RegisterTile tile = ChooseRegisterTile(space);
    SetVectors(tiles_, unit, tile.vectors);
    if (tiles_.row_axis >= 0) tiles_.axes[tiles_.row_axis].tile = tile.rows;
    if (tiles_.outer_row_axis >= 0)
      tiles_.axes[tiles_.outer_row_axis].tile = tile.outer_rows;
  }

  // Rows first: what a task loads for the vector axis serves all of them.
  void ChooseTasks() {
    TaskBudget budget = BudgetOf(tiles_, spec_, 2 * ReducedExtent());
    // Where rows come before vectors in the order of tasks, each task sees the
    // other operand anew: take as many rows as stay in L2.
    if (tiles_.row_axis >= 0 && tiles_.row_axis < tiles_.vector_axis) {
      const int64_t row_bytes = tiles_.axes[tiles_.row_axis].tile *
                                ReducedExtent() * LaneBytes(graph_);
      budget.wanted =
          std::max(budget.wanted, CacheBytes(spec_, "l2", kDefaultL2Bytes) / 2 /
                                      std::max<int64_t>(1, row_bytes));
    }
    for (const int axis : {tiles_.row_axis, tiles_.outer_row_axis}) {
      if (axis >= 0) TakeSteps(tiles_, axis, budget);
    }
  }

  // One reduce loop, or the two parts of one whose operand is blocked.
  struct ReduceSplit {
    int axis;
    int64_t block = 1;
  };

  std::vector<ReduceSplit> ReduceSplits() const {
    const int spatial = static_cast<int>(reduction_.compute.axes.size());
    std::vector<ReduceSplit> splits;
    for (size_t r = 0; r < reduction_.compute.reduce_axes.size(); ++r) {
      ReduceSplit split{static_cast<int>(r), 1};
      const int64_t extent = reduction_.compute.reduce_axes[r].extent.value();
      ForEachLoad(body_, [&](const Expr& load) {
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

  // Constants of the reduction that vary along the vector axis are laid out as
  // the loops read them: panels as wide as the tile.
  void PackConstants() {
    const AxisTile& vector = tiles_.axes[tiles_.vector_axis];
    const int64_t width = vector.vectors * vector.tile;
    std::set<TensorId> done;
    ForEachLoad(body_, [&](const Expr& load) {
      const Tensor& constant = graph_.tensor(load.source());
      if (constant.kind == TensorKind::kConstant &&
          done.insert(constant.id).second)
        PackConstant(load, constant, width);
    });
  }

  void PackConstant(const Expr& load, const Tensor& constant, int64_t width) {
    const int spatial = static_cast<int>(reduction_.compute.axes.size());
    std::vector<int> axis_of_dim;
    std::set<int> axes;
    for (const Expr& index : load.operands()) {
      if (index.op() != Op::kVar || !axes.insert(index.var_id()).second) return;
      axis_of_dim.push_back(index.var_id());
    }
    if (!axes.count(tiles_.vector_axis)) return;
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
          axis == tiles_.vector_axis
              ? Layout::Digit{dim, width, CeilDiv(shape[dim], width)}
              : Layout::Digit{dim, 1, shape[dim]});
    }
    for (const auto& [axis, divisor, extent] : ReduceOrder()) {
      const int dim = dim_of(spatial + axis);
      if (dim >= 0) digits.push_back({dim, divisor, extent});
    }
    digits.push_back({dim_of(tiles_.vector_axis), 1, width});
    const std::vector<int64_t> none(shape.size(), 0);
    const absl::StatusOr<Layout> layout =
        Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
    if (layout.ok()) writer_.SetLayout(constant.name, layout->ToString());
  }

  struct ReduceLoop {
    int axis;
    int64_t divisor;
    int64_t extent;
  };
  // Outer parts of blocked axes, whole axes, inner parts.
  std::vector<ReduceLoop> ReduceOrder() const {
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
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

  void TileReduction(Handle block, const std::vector<Axis>& names,
                     bool whole_task) {
    const Nest nest =
        CutSpatial(writer_, tiles_, block, names, whole_task, "acc.");
    std::vector<Handle> order = nest.steps;
    std::vector<std::vector<Handle>>
        reduce;  // by reduce axis: outer part if split, inner part
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
    for (const ReduceSplit& split : ReduceSplits()) {
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
    Arrange(writer_, order, nest.tile.front());
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  const Tensor& output_;
  const Tensor& reduction_;
  const std::vector<Expr> body_;  // of the reduction, prologue inlined
  OutputTiles tiles_;
  ScheduleWriter writer_;
};

}  // namespace

Schedule ContractionSchedule(const Workload& workload, const DeviceSpec& spec,
                             const Chain& chain) {
  return Builder(workload, spec, chain).Run();
}

}  // namespace tilewright::sketch
