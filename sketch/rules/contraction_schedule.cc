#include "sketch/rules/contraction_schedule.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/caches.h"
#include "sketch/rules/contraction_decisions.h"
#include "sketch/rules/shared/annotations.h"
#include "sketch/rules/shared/chain_schedule.h"
#include "sketch/rules/shared/edges.h"
#include "sketch/rules/shared/find_edges.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/packed_operands.h"
#include "sketch/rules/shared/reduce_loops.h"
#include "sketch/trace/sums_apart.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {
namespace {

// Borders of fewer steps, or of windows of more taps, get no loops of their
// own: inside a network, where constants and code come from far, those of one
// row in 84 were seen to gain nothing.
constexpr double kLeastShare = 0.02;
constexpr int64_t kMostTaps = 7;

class Builder : ChainSchedule {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain,
          const ComputeLocation& location)
      : ChainSchedule(workload, spec, chain, location) {}

  std::optional<Handle> Run() {
    const Handle last = WriteInlines();
    if (output_.shape.empty()) return std::nullopt;
    // In a stage every task computes all taps.
    std::vector<Edge> edges;
    if (!location_.inside) edges = FindEdges(workload_, reduction_, body_);
    loops_ =
        DecideContraction(workload_, spec_, chain_, location_, body_, edges);
    if (!location_.inside)
      skipped_ = DecideEdges(location_.decider, workload_, reduction_, edges,
                             [&](const Edge& edge) { return Pays(edge); });
    PackConstants(writer_, location_.decider, workload_, reduction_, body_,
                  loops_.tiles, loops_.reduce);
    task_ = location_.inside ? *location_.inside
                             : WriteTasks(writer_, loops_.tiles, last);
    const bool alone = reduction_.name == chain_.last;
    if (alone && loops_.reduce.blocked) {
      ReduceByBlocks(last);
    } else if (alone) {
      Reduce(last, true);
      TileMap(writer_, loops_.tiles, writer_.CacheWrite(last, "registers"),
              output_.compute.axes, false);
    } else {
      const Nest nest =
          TileMap(writer_, loops_.tiles, last, output_.compute.axes, true);
      if (!nest.steps.empty()) around_tile_ = nest.steps.back();
      const Handle block = writer_.Block(reduction_.name);
      if (loops_.reduce.blocked) {
        writer_.ComputeAt(block, task_);
        ReduceByBlocks(block);
        writer_.SetLayout(HasSumsApart(reduction_) ? SumsApartOf(reduction_)
                                                   : reduction_.name,
                          OrderOfSums());
      } else {
        writer_.ComputeAt(block,
                          nest.steps.empty() ? task_ : nest.steps.back());
        Reduce(block, false);
        writer_.SetLevel(block, "registers");
      }
    }
    return location_.blocks ? blocks_ : std::nullopt;
  }

 private:
  // Whether fewer steps make up for the loops of their own that tiles at a
  // border take: one for each tap there, but none where no border is inside.
  bool Pays(const Edge& edge) const {
    const OutputTiles& tiles = loops_.tiles;
    const int spatial = static_cast<int>(tiles.shape.size());
    int64_t taps = 1;
    for (const int axis : VarsOf(edge.index)) {
      if (axis >= spatial)
        taps *= reduction_.compute.reduce_axes[axis - spatial].extent.value();
    }
    const bool few = taps <= kMostTaps ||
                     (!edge.taps.empty() &&
                      edge.SameTapsIn(tiles.axes[edge.output_axis].tile));
    return edge.share >= kLeastShare && few &&
           !Mentions(edge.index, tiles.vector_axis);
  }

  // The loops over the parts of all reduce axes, split where they are not yet;
  // `first` parts of the blocked axis are gone.
  std::vector<std::vector<Handle>> ReduceParts(Handle block, bool factored) {
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
    std::vector<std::vector<Handle>> parts;
    for (size_t r = 0; r < axes.size(); ++r) {
      const std::vector<int64_t>& factors = loops_.reduce.factors[r];
      const bool cut =
          factored && static_cast<int>(r) == loops_.reduce.order[0].axis;
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

  // Whether the rows of the next tile come from far away, and wait in the
  // first-level cache until they are used. Blocks of terms are short pieces of
  // rows: their lines would be asked for in every step.
  bool ReadsFar() const {
    const OutputTiles& tiles = loops_.tiles;
    if (loops_.reduce.blocked) return false;
    const std::vector<int> steps = tiles.StepOrder();
    // The next tile may be of the same rows.
    if (!location_.inside && tiles.axes[tiles.vector_axis].steps > 1 &&
        steps.back() == tiles.vector_axis)
      return false;
    bool far = false;
    int64_t bytes = 0;
    ForEachLoad(body_, [&](const Expr& load) {
      if (!Mentions(load, tiles.row_axis)) return;
      const Tensor& rows = graph_.tensor(load.source());
      far |= location_.inside ? location_.far_inputs.count(rows.name) != 0
                              : IsFar(rows, spec_);
      bytes += BytesOfATile(load);
    });
    return far && 2 * bytes <= FirstCacheBytes(spec_);
  }

  // A product of one row reads other weights in each step and nothing twice;
  // what exceeds the first-level cache was not read since the last run.
  std::string PrefetchOfWeights() const {
    const OutputTiles& tiles = loops_.tiles;
    if (location_.inside || loops_.dot) return "auto";
    for (int axis = 0; axis < static_cast<int>(tiles.shape.size()); ++axis) {
      if (axis != tiles.vector_axis && tiles.shape[axis] > 1) return "auto";
    }
    const AxisTile& across = tiles.axes[tiles.vector_axis];
    int64_t step_bytes = 0;
    ForEachLoad(body_, [&](const Expr& load) {
      const Tensor& weights = graph_.tensor(load.source());
      if (weights.kind == TensorKind::kConstant &&
          Mentions(load, tiles.vector_axis) &&
          weights.num_bytes() > FirstCacheBytes(spec_))
        step_bytes += across.vectors * across.tile * SizeBytes(weights.dtype);
    });
    return step_bytes == 0 ? "auto" : PrefetchOfAPage(step_bytes);
  }

  // What a tile reads there, all in all.
  int64_t BytesOfATile(const Expr& load) const {
    const OutputTiles& tiles = loops_.tiles;
    const std::vector<Axis>& axes = reduction_.compute.reduce_axes;
    const int spatial = static_cast<int>(tiles.shape.size());
    const auto steps = [&](int axis) -> std::optional<Range> {
      const int64_t extent = axis < spatial
                                 ? tiles.axes[axis].tile
                                 : axes[axis - spatial].extent.value();
      return Range{0, extent - 1};
    };
    int64_t bytes = SizeBytes(graph_.tensor(load.source()).dtype);
    for (const Expr& index : load.operands()) {
      const std::optional<Range> range = RangeOfExpr(index, steps);
      if (range) bytes *= range->max - range->min + 1;
    }
    return bytes;
  }

  // Puts the loops of a tile's sums in order; those over the terms of a group
  // and from there on become the tile.
  void ArrangeSums(Handle block, const std::vector<Handle>& order,
                   const Nest& nest) {
    SkipZeros(writer_, block, skipped_);
    const size_t inside = nest.tile.size() + (loops_.dot ? 1 : 0);
    if (loops_.reduce.order.size() > (loops_.dot ? 1 : 0))
      DecideReduceAnnotations(
          location_.decider, writer_, order[order.size() - inside - 1],
          around_tile_ || nest.steps.empty() ? around_tile_ : nest.steps.back(),
          ReadsFar() ? "tile" : PrefetchOfWeights());
    if (!loops_.dot) return Arrange(writer_, order, nest.tile.front());
    writer_.Reorder(order);
    writer_.Tensorize(block, order[order.size() - nest.tile.size() - 1],
                      std::string(loops_.dot->intrinsic->name));
  }

  // All terms in one go, in registers.
  void Reduce(Handle block, bool whole_task) {
    const Nest nest = CutSpatial(writer_, loops_.tiles, block,
                                 reduction_.compute.axes, whole_task);
    const auto parts = ReduceParts(block, false);
    std::vector<Handle> order = nest.steps;
    for (const ReduceLoops::Part& part : loops_.reduce.order)
      order.push_back(parts[part.axis][part.part]);
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    ArrangeSums(block, order, nest);
  }

  // The layout of the sums of a task: neighbours along the vector axis lie side
  // by side.
  std::string OrderOfSums() const {
    std::string order = "order ";
    for (int i = 0; i < static_cast<int>(loops_.tiles.shape.size()); ++i) {
      if (i != loops_.tiles.vector_axis) absl::StrAppend(&order, i, ",");
    }
    return absl::StrCat(order, loops_.tiles.vector_axis);
  }

  // Block by block over all tiles of a task: the sums of a block in registers,
  // added to what the blocks before gave. REQUIRES: the loops of `block` cover
  // a task.
  void ReduceByBlocks(Handle block) {
    const std::vector<Axis>& names = reduction_.compute.axes;
    const ReduceLoops::Part first = loops_.reduce.order[0];
    const std::string first_name = absl::StrCat(
        reduction_.compute.reduce_axes[first.axis].name, ".", first.part);
    std::vector<Handle> order;
    const std::vector<Handle> cut = writer_.Split(
        writer_.Loop(block, reduction_.compute.reduce_axes[first.axis].name),
        loops_.reduce.factors[first.axis]);
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
    const Nest sums = CutSpatial(writer_, loops_.tiles, block, names, true);
    order = {blocks};
    order.insert(order.end(), sums.steps.begin(), sums.steps.end());
    order.insert(order.end(), sums.tile.begin(), sums.tile.end());
    Arrange(writer_, order, sums.tile.front());

    around_tile_ = sums.steps.empty() ? blocks : sums.steps.back();
    writer_.ComputeAt(partial, *around_tile_);
    const Nest nest = CutSpatial(writer_, loops_.tiles, partial, names, false);
    const auto parts = ReduceParts(partial, true);
    order = nest.steps;
    order.push_back(writer_.Loop(partial, first_name));
    for (size_t i = 1; i < loops_.reduce.order.size(); ++i)
      order.push_back(
          parts[loops_.reduce.order[i].axis][loops_.reduce.order[i].part]);
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    ArrangeSums(partial, order, nest);
    writer_.SetLevel(partial, "registers");
  }

  ContractionLoops loops_;
  Handle task_ = -1;  // the loop around all others
  // That over register tiles, where the sums' own loops cover one alone.
  std::optional<Handle> around_tile_;
  std::vector<SkippedZeros> skipped_;
  std::optional<Handle> blocks_;  // the loop over blocks of terms
};

}  // namespace

std::optional<Handle> WriteContraction(const Workload& workload,
                                       const DeviceSpec& spec,
                                       const Chain& chain,
                                       const ComputeLocation& location) {
  return Builder(workload, spec, chain, location).Run();
}

}  // namespace tilewright::sketch
