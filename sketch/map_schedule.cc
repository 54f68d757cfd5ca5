#include "sketch/map_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "sketch/output_tiles.h"
#include "tilegraph/simplify.h"

namespace tilewright::sketch {
namespace {

// Vectors of one tile: independent work for the units, without long code.
constexpr int64_t kVectors = 4;
constexpr int64_t kOperationsPerElement = 2;

// How far apart neighbours along each axis lie in one access; 0: no plain
// stride.
using Strides = std::map<int, int64_t>;

std::optional<Strides> StridesOf(const Expr& offset,
                                 absl::Span<const int64_t> shape) {
  Strides strides;
  const LinearForm form =
      ToLinear(offset, [&](int var) -> std::optional<Range> {
        if (var < 0 || var >= static_cast<int>(shape.size()))
          return std::nullopt;
        return Range{0, shape[var] - 1};
      });
  for (const auto& [term, coefficient] : form.terms) {
    if (term.op() != Op::kVar) return std::nullopt;
    strides[term.var_id()] = coefficient;
  }
  return strides;
}

bool UsesAxesOutsideLoads(const Expr& e) {
  if (e.op() == Op::kVar) return true;
  if (e.op() == Op::kLoad) return false;
  for (const Expr& operand : e.operands()) {
    if (UsesAxesOutsideLoads(operand)) return true;
  }
  return false;
}

// The axes above 1 of the output, outermost in memory first; from `first` on
// each lies right behind the next, in every tensor that moves with them, so
// that they are one axis to the loops.
struct Runs {
  std::vector<int> order;
  size_t first = 0;

  bool joins() const { return first + 1 < order.size(); }
};

std::optional<Runs> FindRuns(const Workload& workload, TensorId output,
                             absl::Span<const Expr> body) {
  const std::vector<int64_t> shape =
      workload.graph.tensor(output).static_shape();
  std::vector<Expr> index;
  for (size_t i = 0; i < shape.size(); ++i)
    index.push_back(
        Expr::Var(static_cast<int>(i),
                  workload.graph.tensor(output).compute.axes[i].name));
  const std::optional<Strides> stored =
      StridesOf(workload.LayoutOf(output).Offset(index), shape);
  if (!stored) return std::nullopt;
  std::vector<Strides> accesses = {*stored};
  bool plain = true;
  for (const Expr& value : body) plain &= !UsesAxesOutsideLoads(value);
  ForEachLoad(body, [&](const Expr& load) {
    const std::optional<Strides> strides = StridesOf(
        workload.LayoutOf(load.source()).Offset(load.operands()), shape);
    plain &= strides.has_value();
    if (strides) accesses.push_back(*strides);
  });
  if (!plain) return std::nullopt;
  Runs runs;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) runs.order.push_back(static_cast<int>(i));
  }
  if (runs.order.empty()) return std::nullopt;
  std::sort(runs.order.begin(), runs.order.end(),
            [&](int a, int b) { return stored->at(a) > stored->at(b); });
  if (stored->at(runs.order.back()) != 1) return std::nullopt;
  const auto joined = [&](int outer, int inner) {
    return std::all_of(
        accesses.begin(), accesses.end(), [&](const Strides& strides) {
          const auto a = strides.find(outer), b = strides.find(inner);
          const bool has_a = a != strides.end(), has_b = b != strides.end();
          return has_a == has_b &&
                 (!has_a || a->second == shape[inner] * b->second);
        });
  };
  runs.first = runs.order.size() - 1;
  while (runs.first > 0 &&
         joined(runs.order[runs.first - 1], runs.order[runs.first]))
    --runs.first;
  return runs;
}

// Loops that pass through memory as it lies: a task is a piece of it.
void WriteRuns(ScheduleWriter& writer, const Tensor& output, const Runs& runs,
               Handle block, int64_t lanes, const DeviceSpec& spec) {
  const std::vector<int64_t> shape = output.static_shape();
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  const int64_t cores = std::max<int64_t>(1, spec.unit().cores());
  const int64_t per_task = std::max(
      lanes * kVectors, std::min(kOperationsPerTask / kOperationsPerElement,
                                 elements / (kTasksPerCore * cores)));
  // Tasks cut this axis and take one step of those around it.
  size_t cut = 0;
  int64_t inside = elements / shape[runs.order[0]];
  while (cut + 1 < runs.order.size() && inside > per_task) {
    ++cut;
    inside /= shape[runs.order[cut]];
  }
  const int64_t extent = shape[runs.order[cut]];
  const int64_t tasks = CeilDiv(
      extent, std::min(extent, std::max<int64_t>(1, per_task / inside)));
  std::vector<Factors> split;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto at =
        std::find(runs.order.begin(), runs.order.end(), static_cast<int>(i));
    int64_t part = shape[i];
    if (at < runs.order.begin() + cut) part = 1;
    if (at == runs.order.begin() + cut) part = CeilDiv(extent, tasks);
    split.push_back(Factors{CeilDiv(shape[i], part), part});
  }
  writer.GroupTile({block}, split);
  std::vector<Handle> order;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      order.push_back(writer.Loop(block, output.compute.axes[i].name));
  }
  std::vector<Handle> run;
  int64_t run_extent = 1;
  for (size_t i = 0; i < runs.order.size(); ++i) {
    const Handle loop =
        writer.Loop(block, output.compute.axes[runs.order[i]].name);
    order.push_back(loop);
    if (i < cut || i < runs.first) continue;
    run.push_back(loop);
    run_extent *= split[runs.order[i]][1];
  }
  if (order.size() > 1) writer.Reorder(order);
  const Handle along = run.size() > 1 ? writer.Fuse(run) : run[0];
  const int64_t tile = std::min(run_extent, kVectors * lanes);
  const std::vector<Handle> parts =
      writer.Split(along, Factors{CeilDiv(run_extent, tile), tile});
  writer.Annotate(parts[1], "tile");
}

// Tiles along the vector axis or, of blocked layouts, along the axis whose
// neighbours lie behind a block.
void WriteTiles(ScheduleWriter& writer, const Workload& workload,
                const Tensor& output, Handle block, int64_t lanes,
                const DeviceSpec& spec, bool whole) {
  OutputTiles tiles = StartTiles(workload, output.id);
  const VectorUnit unit = UnitOf(workload, output.id, lanes);
  const int64_t vectors =
      std::max<int64_t>(1, kVectors / CeilDiv(unit.elements, lanes));
  if (unit.blocked && tiles.row_axis >= 0) {
    SetVectors(tiles, unit, 1);
    tiles.axes[tiles.row_axis].tile =
        std::min(vectors, tiles.shape[tiles.row_axis]);
  } else {
    SetVectors(tiles, unit,
               std::min(CeilDiv(tiles.shape[tiles.vector_axis], unit.elements),
                        vectors));
    tiles.vectors_inside = true;
  }
  if (whole) {
    TakeWhole(tiles);
    TileMap(writer, tiles, block, output.compute.axes, true);
    return;
  }
  TaskBudget budget = BudgetOf(tiles, spec, kOperationsPerElement);
  const std::vector<int> axes =
      tiles.vectors_inside
          ? std::vector<int>{tiles.vector_axis, tiles.row_axis,
                             tiles.outer_row_axis}
          : std::vector<int>{tiles.row_axis, tiles.outer_row_axis,
                             tiles.vector_axis};
  for (const int axis : axes) {
    if (axis >= 0) TakeSteps(tiles, axis, budget);
  }
  WriteTasks(writer, tiles, block);
  TileMap(writer, tiles, block, output.compute.axes, true);
}

}  // namespace

void WriteMap(const Workload& workload, const DeviceSpec& spec,
              const Chain& chain, const Place& place) {
  const TensorGraph& graph = workload.graph;
  const Tensor& output = graph.tensor(chain.output);
  ScheduleWriter& writer = place.writer;
  for (const std::string& block : chain.inlined)
    writer.ComputeInline(writer.Block(block));
  const Handle last = writer.Block(chain.last);
  if (output.shape.empty()) return;
  const int64_t lanes = Lanes(graph, spec);
  if (place.inside)
    return WriteTiles(writer, workload, output, last, lanes, spec, true);
  const std::optional<Runs> runs =
      FindRuns(workload, chain.output, InlinedBody(graph, chain.output));
  if (runs && runs->joins()) {
    WriteRuns(writer, output, *runs, last, lanes, spec);
  } else {
    WriteTiles(writer, workload, output, last, lanes, spec, false);
  }
}

}  // namespace tilewright::sketch
