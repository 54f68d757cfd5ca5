#include "sketch/rules/contraction_decisions.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "backends/spec/caches.h"
#include "base/ceil_div.h"
#include "base/memory_units.h"
#include "sketch/rules/shared/tile_decisions.h"
#include "sketch/rules/shared/tile_order.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {
namespace {

class Chooser {
 public:
  Chooser(const Workload& workload, const DeviceSpec& spec, const Chain& chain,
          const ComputeLocation& location, const std::vector<Expr>& body,
          absl::Span<const Edge> edges)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        location_(location),
        reduction_(graph_.tensor(*chain.reduction)),
        body_(body),
        edges_(edges),
        tiles_(StartTiles(workload, chain.output)) {}

  ContractionLoops Run() {
    // Bounds of a stage are made for vectors along the contiguous axis.
    if (!location_.inside) {
      FollowRule();
      DecideLanes(location_.decider, tiles_,
                  [&](int axis) { return MostTasks(axis) >= least_tasks_; });
    }
    ShareVectors();
    DecideRows(location_.decider, tiles_, TileBits());
    DecideDot();
    GivenBlocks given;
    if (location_.blocks)
      given = {location_.blocks->axis, location_.blocks->steps};
    loops_ = DecideReduceLoops(location_.decider, workload_, reduction_, body_,
                               tiles_.vector_axis,
                               dot_ ? dot_->group : TermGroup(), given, edges_);
    ChooseTile();
    if (location_.inside) {
      TakeWhole(tiles_);
    } else {
      ChooseTasks();
      DecideTaskOrder(location_.decider, tiles_);
    }
    DecideStepOrder(location_.decider, tiles_);
    return {std::move(tiles_), std::move(loops_), std::move(dot_)};
  }

 private:
  // In a task of a fused group, tiles of one row were seen to add up in another
  // order.
  Bits TileBits() const {
    return location_.inside ? Bits::kMayChange : Bits::kSame;
  }

  int64_t ReducedExtent() const {
    int64_t extent = 1;
    for (const Axis& axis : reduction_.compute.reduce_axes)
      extent *= axis.extent.value();
    return extent;
  }

  // Whether some operand's vectors are the same all along `axis`.
  bool SharesVectors(int axis) const {
    bool shares = false;
    ForEachLoad(body_, [&](const Expr& load) {
      shares |= Mentions(load, tiles_.vector_axis) && !Mentions(load, axis);
    });
    return shares;
  }

  // Rows that all need vectors of their own would only be loads: an axis along
  // which vectors are used again goes before them.
  void ShareVectors() {
    if (tiles_.row_axis < 0 || SharesVectors(tiles_.row_axis)) return;
    for (int axis = static_cast<int>(tiles_.shape.size()); axis-- > 0;) {
      if (axis == tiles_.vector_axis || tiles_.shape[axis] == 1 ||
          !SharesVectors(axis))
        continue;
      tiles_.outer_row_axis = tiles_.row_axis;
      tiles_.row_axis = axis;
      return;
    }
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

  // Answers by rule alone, which fixes the tasks that all answers leave.
  void FollowRule() {
    const OutputTiles start = tiles_;
    ShareVectors();
    dot_ = ChooseDot(workload_, spec_, reduction_, body_, tiles_.vector_axis);
    const TileSpace space = SpaceOfTile();
    const RegisterTile tile = ChooseRegisterTile(space, TasksOf(space));
    const int64_t tasks = CountTiles(space, tile) * TasksOf(space).others;
    least_tasks_ = LeastTasks(spec_, tasks);
    rule_ = Rule{tiles_, dot_, tile};
    tiles_ = start;
  }

  // Tasks of the smallest tiles, with vectors along `axis`.
  int64_t MostTasks(int axis) const {
    int64_t tasks = CeilDiv(tiles_.shape[axis], UnitAlong(axis).elements);
    for (size_t i = 0; i < tiles_.shape.size(); ++i)
      if (static_cast<int>(i) != axis) tasks *= tiles_.shape[i];
    return tasks;
  }

  void DecideDot() {
    dot_ = ChooseDot(workload_, spec_, reduction_, body_, tiles_.vector_axis);
    if (!dot_) return;
    const Bits bits =
        IsFloat(dot_->intrinsic->acc) ? Bits::kMayChange : Bits::kSame;
    if (!location_.decider.DecideWhether(
            "dot", [] { return true; }, bits))
      dot_.reset();
  }

  int64_t Extent(int axis) const { return axis < 0 ? 1 : tiles_.shape[axis]; }

  VectorUnit UnitAlong(int axis) const {
    const int64_t lanes = Lanes(graph_, spec_);
    return FindContiguous(workload_, chain_.output).dim == axis
               ? UnitOf(workload_, chain_.output, lanes)
               : VectorUnit{std::min(lanes, Extent(axis)), false};
  }

  // By rows of a tile, the share of its steps that it does not leave out
  // because all of them read known zeros (edges.h).
  std::function<double(int64_t)> StepsLeft() const {
    std::vector<Edge> along;
    for (const Edge& edge : edges_) {
      if (edge.output_axis == tiles_.row_axis && !edge.taps.empty())
        along.push_back(edge);
    }
    if (along.empty()) return nullptr;
    // By value: spaces of decisions outlive this run.
    return [along = std::move(along)](int64_t rows) {
      double left = 1;
      for (const Edge& edge : along) {
        if (edge.SameTapsIn(rows)) left *= 1 - edge.share;
      }
      return left;
    };
  }

  // With the axes of tiles_ and dot_ as they are.
  TileSpace SpaceOfTile() const {
    const VectorUnit unit = UnitAlong(tiles_.vector_axis);
    TileSpace space;
    space.vectors = CeilDiv(Extent(tiles_.vector_axis), unit.elements);
    space.rows = Extent(tiles_.row_axis);
    space.outer_rows = Extent(tiles_.outer_row_axis);
    space.registers = static_cast<int>(spec_.unit().vector_registers());
    space.registers_per_unit =
        static_cast<int>(CeilDiv(unit.elements, Lanes(graph_, spec_)));
    space.rows_far_apart = RowsFarApart();
    space.steps_left = StepsLeft();
    if (dot_) {
      space.registers_per_load = dot_->registers_per_load;
      space.registers_beside = dot_->registers_beside;
    }
    return space;
  }

  TileTasks TasksOf(const TileSpace& space) const {
    TileTasks tasks;
    tasks.others = MostTasks(tiles_.vector_axis) /
                   (space.vectors * space.rows * space.outer_rows);
    tasks.cores = spec_.unit().cores();
    tasks.steps = ReducedExtent() / (dot_ ? dot_->intrinsic->group : 1);
    return tasks;
  }

  // Chooses the register tile over these axes.
  RegisterTile TileByRule(const TileSpace& space) const {
    if (location_.inside) return ChooseRegisterTile(space);
    const bool same = rule_->tiles.vector_axis == tiles_.vector_axis &&
                      rule_->tiles.row_axis == tiles_.row_axis &&
                      rule_->tiles.outer_row_axis == tiles_.outer_row_axis &&
                      rule_->dot.has_value() == dot_.has_value();
    return same ? rule_->tile : ChooseRegisterTile(space, TasksOf(space));
  }

  void ChooseTile() {
    const VectorUnit unit = UnitAlong(tiles_.vector_axis);
    TileSpace space = SpaceOfTile();
    if (location_.inside) {
      // By value: spaces of decisions outlive this run.
      space.allowed = [bounds = location_.bounds, tiles = tiles_,
                       elements = unit.elements](const RegisterTile& tile) {
        const auto allow = [&](int axis, int64_t size) {
          return axis < 0 || bounds.Allow(axis, size, tiles.shape[axis]);
        };
        return allow(tiles.vector_axis, tile.vectors * elements) &&
               allow(tiles.row_axis, tile.rows) &&
               allow(tiles.outer_row_axis, tile.outer_rows);
      };
    } else {
      space.least_tiles = CeilDiv(least_tasks_, TasksOf(space).others);
    }
    const RegisterTile tile = DecideRegisterTile(location_.decider, space,
                                                 TileByRule(space), TileBits());
    SetVectors(tiles_, unit, tile.vectors);
    if (tiles_.row_axis >= 0) tiles_.axes[tiles_.row_axis].tile = tile.rows;
    if (tiles_.outer_row_axis >= 0)
      tiles_.axes[tiles_.outer_row_axis].tile = tile.outer_rows;
  }

  // What all terms of one element read of one operand.
  int64_t TermBytes() const {
    return ReducedExtent() *
           (dot_ ? SizeBytes(dot_->intrinsic->a) : LaneBytes(graph_));
  }

  // Rows first: what a task loads for the vector axis serves all of them. The
  // rule takes one tile along that one.
  void ChooseTasks() {
    TaskBudget budget = BudgetOf(tiles_, spec_, 2 * ReducedExtent());
    // Where rows come before vectors in the order of tasks, each task sees the
    // other operand anew: take as many rows as stay in L2, or at least as many
    // as stay there for one block of terms.
    const int64_t l2_bytes = PrivateCacheBytes(spec_);
    if (tiles_.row_axis >= 0 && tiles_.row_axis < tiles_.vector_axis) {
      const int64_t row_bytes = tiles_.axes[tiles_.row_axis].tile * TermBytes();
      const int64_t blocks =
          loops_.blocked ? loops_.extent(loops_.order[0]) : 1;
      budget.wanted = std::max({budget.wanted, l2_bytes / 2 / row_bytes,
                                blocks * l2_bytes / 4 / row_bytes});
    } else if (loops_.blocked &&
               tiles_.TaskExtent(tiles_.vector_axis) * TermBytes() >
                   l2_bytes / 2) {
      // What the vectors of a tile read leaves the cache before the next tile
      // reads it again; a block of it stays for all tiles of a task.
      budget.wanted = budget.most;
    }
    DecideSteps(location_.decider, tiles_, spec_,
                {tiles_.row_axis, tiles_.outer_row_axis}, budget);
    DecideSteps(location_.decider, tiles_, spec_, {tiles_.vector_axis}, {1, 1});
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  const ComputeLocation& location_;
  const Tensor& reduction_;
  const std::vector<Expr>& body_;
  const absl::Span<const Edge> edges_;
  OutputTiles tiles_;
  ReduceLoops loops_;
  std::optional<DotChoice> dot_;
  // The answers of the rule alone: axes, dot and tile of a kernel, and the
  // tasks that all answers leave.
  struct Rule {
    OutputTiles tiles;
    std::optional<DotChoice> dot;
    RegisterTile tile;
  };
  std::optional<Rule> rule_;
  int64_t least_tasks_ = 1;
};

}  // namespace

ContractionLoops DecideContraction(const Workload& workload,
                                   const DeviceSpec& spec, const Chain& chain,
                                   const ComputeLocation& location,
                                   const std::vector<Expr>& body,
                                   absl::Span<const Edge> edges) {
  return Chooser(workload, spec, chain, location, body, edges).Run();
}

}  // namespace tilewright::sketch
