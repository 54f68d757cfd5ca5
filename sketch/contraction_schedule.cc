#include "sketch/contraction_schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/annotations.h"
#include "sketch/dot_choice.h"
#include "sketch/edges.h"
#include "sketch/output_tiles.h"
#include "sketch/packed_operands.h"
#include "sketch/reduce_loops.h"
#include "sketch/register_tile.h"
#include "sketch/tile_decisions.h"
#include "sketch/tile_order.h"
#include "tilegraph/access.h"
#include "tilegraph/expr_vars.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kDefaultL2Bytes = int64_t{1} << 20;
constexpr int64_t kPageBytes = 4096;
// Borders of fewer steps, or of windows of more taps, get no loops of their
// own: inside a network, where constants and code come from far, those of one
// row in 84 were seen to gain nothing.
constexpr double kLeastShare = 0.02;
constexpr int64_t kMostTaps = 3;

class Builder {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain,
          const Place& place)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        place_(place),
        writer_(place.writer),
        output_(graph_.tensor(chain.output)),
        reduction_(graph_.tensor(*chain.reduction)),
        body_(InlinedBody(graph_, *chain.reduction)) {}

  std::optional<Handle> Run() {
    for (const std::string& block : chain_.inlined)
      writer_.ComputeInline(writer_.Block(block));
    const Handle last = writer_.Block(chain_.last);
    if (output_.shape.empty()) return std::nullopt;
    tiles_ = StartTiles(workload_, chain_.output);
    // Bounds of a stage are made for vectors along the contiguous axis.
    if (!place_.inside) {
      FollowRule();
      DecideLanes(place_.decider, tiles_,
                  [&](int axis) { return MostTasks(axis) >= least_tasks_; });
    }
    ShareVectors();
    DecideRows(place_.decider, tiles_, TileBits());
    DecideDot();
    GivenBlocks given;
    if (place_.blocks) given = {place_.blocks->axis, place_.blocks->steps};
    loops_ = DecideReduceLoops(place_.decider, workload_, reduction_, body_,
                               dot_ ? dot_->group : TermGroup(), given);
    ChooseTile();
    if (place_.inside) {
      TakeWhole(tiles_);
    } else {
      ChooseTasks();
      DecideTaskOrder(place_.decider, tiles_);
    }
    DecideStepOrder(place_.decider, tiles_);
    if (!place_.inside)
      skipped_ = DecideEdges(place_.decider, workload_, reduction_, body_,
                             [&](const Edge& edge) { return Pays(edge); });
    PackConstants(writer_, place_.decider, workload_, reduction_, body_, tiles_,
                  loops_);
    task_ = place_.inside ? *place_.inside : WriteTasks(writer_, tiles_, last);
    const bool alone = reduction_.name == chain_.last;
    if (alone && loops_.blocked) {
      ReduceByBlocks(last);
    } else if (alone) {
      Reduce(last, true);
      TileMap(writer_, tiles_, writer_.CacheWrite(last, "registers"),
              output_.compute.axes, false);
    } else {
      const Nest nest =
          TileMap(writer_, tiles_, last, output_.compute.axes, true);
      const Handle block = writer_.Block(reduction_.name);
      if (loops_.blocked) {
        writer_.ComputeAt(block, task_);
        ReduceByBlocks(block);
        writer_.SetLayout(reduction_.name, OrderOfSums());
      } else {
        writer_.ComputeAt(block,
                          nest.steps.empty() ? task_ : nest.steps.back());
        Reduce(block, false);
        writer_.SetLevel(block, "registers");
      }
    }
    return place_.blocks ? blocks_ : std::nullopt;
  }

 private:
  // In a task of a fused group, tiles of one row were seen to add up in another
  // order.
  Bits TileBits() const {
    return place_.inside ? Bits::kMayChange : Bits::kSame;
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

  // What the rule does by itself: the tasks that all answers leave.
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
    if (!place_.decider.DecideWhether(
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

  // Of these axes.
  RegisterTile TileByRule(const TileSpace& space) const {
    if (place_.inside) return ChooseRegisterTile(space);
    const bool same = rule_->tiles.vector_axis == tiles_.vector_axis &&
                      rule_->tiles.row_axis == tiles_.row_axis &&
                      rule_->tiles.outer_row_axis == tiles_.outer_row_axis &&
                      rule_->dot.has_value() == dot_.has_value();
    return same ? rule_->tile : ChooseRegisterTile(space, TasksOf(space));
  }

  void ChooseTile() {
    const VectorUnit unit = UnitAlong(tiles_.vector_axis);
    TileSpace space = SpaceOfTile();
    if (place_.inside) {
      // By value: spaces of decisions outlive this run.
      space.allowed = [bounds = place_.bounds, tiles = tiles_,
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
    const RegisterTile tile = DecideRegisterTile(place_.decider, space,
                                                 TileByRule(space), TileBits());
    SetVectors(tiles_, unit, tile.vectors);
    if (tiles_.row_axis >= 0) tiles_.axes[tiles_.row_axis].tile = tile.rows;
    if (tiles_.outer_row_axis >= 0)
      tiles_.axes[tiles_.outer_row_axis].tile = tile.outer_rows;
  }

  // Rows first: what a task loads for the vector axis serves all of them. The
  // rule takes one tile along that one.
  void ChooseTasks() {
    TaskBudget budget = BudgetOf(tiles_, spec_, 2 * ReducedExtent());
    // Where rows come before vectors in the order of tasks, each task sees the
    // other operand anew: take as many rows as stay in L2, or at least as many
    // as stay there for one block of terms.
    if (tiles_.row_axis >= 0 && tiles_.row_axis < tiles_.vector_axis) {
      const int64_t l2_bytes = CacheBytes(spec_, "l2", kDefaultL2Bytes);
      const int64_t row_bytes =
          tiles_.axes[tiles_.row_axis].tile * ReducedExtent() *
          (dot_ ? SizeBytes(dot_->intrinsic->a) : LaneBytes(graph_));
      const int64_t blocks =
          loops_.blocked ? loops_.extent(loops_.order[0]) : 1;
      budget.wanted = std::max({budget.wanted, l2_bytes / 2 / row_bytes,
                                blocks * l2_bytes / 4 / row_bytes});
    }
    DecideSteps(place_.decider, tiles_, spec_,
                {tiles_.row_axis, tiles_.outer_row_axis}, budget);
    DecideSteps(place_.decider, tiles_, spec_, {tiles_.vector_axis}, {1, 1});
  }

  // Whether fewer steps make up for the loops of their own that tiles at a
  // border take: one for each tap there.
  bool Pays(const Edge& edge) const {
    const int spatial = static_cast<int>(tiles_.shape.size());
    int64_t taps = 1;
    for (const int axis : VarsOf(edge.index)) {
      if (axis >= spatial)
        taps *= reduction_.compute.reduce_axes[axis - spatial].extent.value();
    }
    return edge.share >= kLeastShare && taps <= kMostTaps &&
           !Mentions(edge.index, tiles_.vector_axis);
  }

  // The loops over the parts of all reduce axes, split where they are not yet;
  // `first` parts of the blocked axis are gone.
  std::vector<std::vector<Handle>> ReduceParts(Handle block, bool factored) {
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
    std::vector<std::vector<Handle>> parts;
    for (size_t r = 0; r < axes.size(); ++r) {
      const std::vector<int64_t>& factors = loops_.factors[r];
      const bool cut = factored && static_cast<int>(r) == loops_.order[0].axis;
      std::vector<Handle>& handles = parts.emplace_back();
      if (cut) {
        handles.push_back(-1);
        for (size_t i = 1; i < factors.size(); ++i)
          handles.push_back(
              writer_.Loop(block, absl::StrCat(axes[r].name, ".", i)));
      } else if (factors.size() == 1) {
        handles = {writer_.Loop(block, axes[r].name)};
      } else {
        handles = writer_.Split(writer_.Loop(block, axes[r].name), factors);
      }
    }
    return parts;
  }

  // Puts the loops of a tile's sums in order; those over the terms of a group
  // and from there on become the tile.
  void ArrangeSums(Handle block, const std::vector<Handle>& order,
                   const Nest& nest) {
    SkipZeros(writer_, block, skipped_);
    const size_t inside = nest.tile.size() + (dot_ ? 1 : 0);
    if (loops_.order.size() > (dot_ ? 1 : 0))
      DecideReduceAnnotations(place_.decider, writer_,
                              order[order.size() - inside - 1]);
    if (!dot_) return Arrange(writer_, order, nest.tile.front());
    writer_.Reorder(order);
    writer_.Tensorize(block, order[order.size() - nest.tile.size() - 1],
                      std::string(dot_->intrinsic->name));
  }

  // All terms in one go, in registers.
  void Reduce(Handle block, bool whole_task) {
    const Nest nest =
        CutSpatial(writer_, tiles_, block, reduction_.compute.axes, whole_task);
    const auto parts = ReduceParts(block, false);
    std::vector<Handle> order = nest.steps;
    for (const ReduceLoops::Part& part : loops_.order)
      order.push_back(parts[part.axis][part.part]);
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    ArrangeSums(block, order, nest);
  }

  // Of the sums of a task: neighbours along the vector axis side by side.
  std::string OrderOfSums() const {
    std::string order = "order ";
    for (int i = 0; i < static_cast<int>(tiles_.shape.size()); ++i) {
      if (i != tiles_.vector_axis) absl::StrAppend(&order, i, ",");
    }
    return absl::StrCat(order, tiles_.vector_axis);
  }

  // Block by block over all tiles of a task: the sums of a block in registers,
  // added to what the blocks before gave. REQUIRES: the loops of `block` cover
  // a task.
  void ReduceByBlocks(Handle block) {
    const std::vector<Axis>& names = reduction_.compute.axes;
    const ReduceLoops::Part first = loops_.order[0];
    const std::string first_name = absl::StrCat(
        reduction_.compute.reduce_axes[first.axis].name, ".", first.part);
    std::vector<Handle> order;
    const std::vector<Handle> cut = writer_.Split(
        writer_.Loop(block, reduction_.compute.reduce_axes[first.axis].name),
        loops_.factors[first.axis]);
    order.push_back(cut[0]);
    for (const Axis& axis : names)
      order.push_back(writer_.Loop(block, axis.name));
    order.insert(order.end(), cut.begin() + 1, cut.end());
    for (size_t r = 0; r < reduction_.compute.reduce_axes.size(); ++r) {
      if (static_cast<int>(r) != first.axis)
        order.push_back(
            writer_.Loop(block, reduction_.compute.reduce_axes[r].name));
    }
    writer_.Reorder(order);
    const Handle partial = writer_.RFactor(block, cut[0]);

    const Handle blocks = writer_.Loop(block, first_name);
    blocks_ = blocks;
    const Nest sums = CutSpatial(writer_, tiles_, block, names, true);
    order = {blocks};
    order.insert(order.end(), sums.steps.begin(), sums.steps.end());
    order.insert(order.end(), sums.tile.begin(), sums.tile.end());
    Arrange(writer_, order, sums.tile.front());

    writer_.ComputeAt(partial, sums.steps.empty() ? blocks : sums.steps.back());
    const Nest nest = CutSpatial(writer_, tiles_, partial, names, false);
    const auto parts = ReduceParts(partial, true);
    order = nest.steps;
    order.push_back(writer_.Loop(partial, first_name));
    for (size_t i = 1; i < loops_.order.size(); ++i)
      order.push_back(parts[loops_.order[i].axis][loops_.order[i].part]);
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    ArrangeSums(partial, order, nest);
    writer_.SetLevel(partial, "registers");
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  const Place place_;
  ScheduleWriter& writer_;
  const Tensor& output_;
  const Tensor& reduction_;
  const std::vector<Expr> body_;  // of the reduction, prologue inlined
  std::optional<DotChoice> dot_;
  ReduceLoops loops_;
  OutputTiles tiles_;
  // Of a kernel: its axes, dot and tile if the rule answers alone, and the
  // tasks that all answers leave.
  struct Rule {
    OutputTiles tiles;
    std::optional<DotChoice> dot;
    RegisterTile tile;
  };
  std::optional<Rule> rule_;
  int64_t least_tasks_ = 1;
  Handle task_ = -1;  // the loop around all others
  std::vector<SkippedZeros> skipped_;
  std::optional<Handle> blocks_;  // the loop over blocks of terms
};

}  // namespace

std::optional<Handle> WriteContraction(const Workload& workload,
                                       const DeviceSpec& spec,
                                       const Chain& chain, const Place& place) {
  return Builder(workload, spec, chain, place).Run();
}

}  // namespace tilewright::sketch
