#include "sketch/map_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "sketch/output_tiles.h"
#include "sketch/tile_decisions.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/simplify.h"

namespace tilewright::sketch {
namespace {

// Vectors of one tile: independent work for the units, without long code.
constexpr int64_t kVectors = 4;
constexpr int64_t kMostVectors = 16;
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

// How runs are cut into tasks.
struct RunTask {
  size_t cut = 0;      // of the order of memory: the axis that is cut
  int64_t extent = 1;  // of that axis, in a task
};

// Steps of the axes of `runs` around the one at `at`, and inside of it.
int64_t Outside(const std::vector<int64_t>& shape, const Runs& runs,
                size_t at) {
  int64_t steps = 1;
  for (size_t i = 0; i < at; ++i) steps *= shape[runs.order[i]];
  return steps;
}
int64_t Inside(const std::vector<int64_t>& shape, const Runs& runs, size_t at) {
  int64_t steps = 1;
  for (size_t i = at + 1; i < runs.order.size(); ++i)
    steps *= shape[runs.order[i]];
  return steps;
}

// Elements of the axis at `cut` that tasks of about `per_task` elements have,
// all alike.
int64_t TaskExtentByRule(const std::vector<int64_t>& shape, const Runs& runs,
                         size_t cut, int64_t per_task) {
  const int64_t extent = shape[runs.order[cut]];
  const int64_t inside = Inside(shape, runs, cut);
  const int64_t tasks = CeilDiv(
      extent, std::min(extent, std::max<int64_t>(1, per_task / inside)));
  return CeilDiv(extent, tasks);
}

RunTask DecideRunTask(Decider& decider, const std::vector<int64_t>& shape,
                      const Runs& runs, int64_t lanes, const DeviceSpec& spec) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  const int64_t cores = std::max<int64_t>(1, spec.unit().cores());
  const int64_t per_task = std::max(
      lanes * kVectors, std::min(kOperationsPerTask / kOperationsPerElement,
                                 elements / (kTasksPerCore * cores)));
  size_t rule_cut = 0;
  while (rule_cut + 1 < runs.order.size() &&
         Inside(shape, runs, rule_cut) > per_task)
    ++rule_cut;
  const int64_t rule_extent = TaskExtentByRule(shape, runs, rule_cut, per_task);
  const int64_t least =
      LeastTasks(spec, Outside(shape, runs, rule_cut) *
                           CeilDiv(shape[runs.order[rule_cut]], rule_extent));
  // Axes whose steps are enough for the tasks, and not less than a vector each.
  std::vector<size_t> cuts;
  std::vector<std::string> names;
  int64_t rule_option = 0;
  for (size_t cut = 0; cut < runs.order.size(); ++cut) {
    const int64_t extent = shape[runs.order[cut]];
    const bool may = Outside(shape, runs, cut) * extent >= least &&
                     extent * Inside(shape, runs, cut) >= lanes;
    if (!may && cut != rule_cut) continue;
    if (cut == rule_cut) rule_option = static_cast<int64_t>(cuts.size());
    cuts.push_back(cut);
    names.push_back(absl::StrCat("axis", runs.order[cut]));
  }
  RunTask task;
  task.cut = cuts[decider.DecideNumber("task.axis", Space::OneOf(names),
                                       [&] { return rule_option; })];
  const int64_t most = MostStepsOfATask(shape[runs.order[task.cut]],
                                        Outside(shape, runs, task.cut), least);
  const int64_t preferred =
      std::min(most, TaskExtentByRule(shape, runs, task.cut, per_task));
  const int64_t vector = CeilDiv(lanes, Inside(shape, runs, task.cut));
  task.extent = decider.DecideNumber(
      "task.extent", Space::Integers(std::min(preferred, vector), most),
      [&] { return preferred; });
  return task;
}

// Loops that pass through memory as it lies: a task is a piece of it.
void WriteRuns(const Place& place, const Tensor& output, const Runs& runs,
               Handle block, int64_t lanes, const DeviceSpec& spec) {
  ScheduleWriter& writer = place.writer;
  const std::vector<int64_t> shape = output.static_shape();
  const RunTask task = DecideRunTask(place.decider, shape, runs, lanes, spec);
  std::vector<Factors> split;
  for (const int64_t extent : shape) split.push_back(Factors{1, extent});
  for (size_t i = 0; i <= task.cut; ++i) {
    const int64_t part = i < task.cut ? 1 : task.extent;
    Factors& factors = split[runs.order[i]];
    factors = {CeilDiv(shape[runs.order[i]], part), part};
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
    if (i < task.cut || i < runs.first) continue;
    run.push_back(loop);
    run_extent *= split[runs.order[i]][1];
  }
  if (order.size() > 1) writer.Reorder(order);
  const Handle along = run.size() > 1 ? writer.Fuse(run) : run[0];
  const int64_t most = std::min(kMostVectors, CeilDiv(run_extent, lanes));
  const int64_t vectors =
      place.decider.DecideNumber("vectors", Space::Integers(1, most),
                                 [&] { return std::min(kVectors, most); });
  const int64_t tile = std::min(run_extent, vectors * lanes);
  const std::vector<Handle> parts =
      writer.Split(along, Factors{CeilDiv(run_extent, tile), tile});
  writer.Annotate(parts[1], "tile");
}

// "tile": what is unrolled together, along the vector axis or, of blocked
// layouts, by preference along the axis whose neighbours lie behind a block.
void DecideTile(const Place& place, OutputTiles& tiles, const VectorUnit& unit,
                int64_t lanes, const DeviceSpec& spec) {
  const int64_t registers = CeilDiv(unit.elements, lanes);
  const int64_t units = CeilDiv(tiles.shape[tiles.vector_axis], unit.elements);
  const int64_t rows = tiles.row_axis < 0 ? 1 : tiles.shape[tiles.row_axis];
  const int64_t together = std::max<int64_t>(1, kVectors / registers);
  const bool along_rows = unit.blocked && tiles.row_axis >= 0;
  const auto with = [tiles, unit](int64_t vectors, int64_t tile_rows) {
    OutputTiles result = tiles;
    SetVectors(result, unit, vectors);
    if (result.row_axis >= 0) result.axes[result.row_axis].tile = tile_rows;
    return result;
  };
  const DecisionValue rule = {along_rows ? 1 : std::min(units, together),
                              along_rows ? std::min(together, rows) : 1};
  const int64_t least = LeastTasks(spec, with(rule[0], rule[1]).Tasks());
  const auto admits = [=, inside = place.inside.has_value(),
                       bounds = place.bounds](const DecisionValue& value) {
    if (value == rule) return true;
    if (value[0] * value[1] * registers > kMostVectors) return false;
    if (!inside) return with(value[0], value[1]).Tasks() >= least;
    return bounds.Allow(tiles.vector_axis, value[0] * unit.elements,
                        tiles.shape[tiles.vector_axis]) &&
           bounds.Allow(tiles.row_axis, value[1], rows);
  };
  const int64_t most = std::max(together, kMostVectors / registers);
  const DecisionValue tile = place.decider.Decide(
      "tile",
      Space::Composite({{"vectors", Space::Integers(1, std::min(units, most))},
                        {"rows", Space::Integers(1, std::min(rows, most))}},
                       admits),
      [&] { return rule; });
  tiles = with(tile[0], tile[1]);
  tiles.vectors_inside = !along_rows;
}

void WriteTiles(const Place& place, const Workload& workload,
                const Tensor& output, Handle block, int64_t lanes,
                const DeviceSpec& spec) {
  OutputTiles tiles = StartTiles(workload, output.id);
  DecideTile(place, tiles, UnitOf(workload, output.id, lanes), lanes, spec);
  if (place.inside) {
    TakeWhole(tiles);
  } else {
    const std::vector<int> axes =
        tiles.vectors_inside
            ? std::vector<int>{tiles.vector_axis, tiles.row_axis,
                               tiles.outer_row_axis}
            : std::vector<int>{tiles.row_axis, tiles.outer_row_axis,
                               tiles.vector_axis};
    DecideSteps(place.decider, tiles, spec, axes,
                BudgetOf(tiles, spec, kOperationsPerElement));
  }
  DecideStepOrder(place.decider, tiles);
  if (!place.inside) WriteTasks(place.writer, tiles, block);
  TileMap(place.writer, tiles, block, output.compute.axes, true);
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
  // The stages of a fused group follow the axes of their tile.
  const std::optional<Runs> runs =
      place.inside
          ? std::nullopt
          : FindRuns(workload, chain.output, InlinedBody(graph, chain.output));
  const bool as_runs =
      runs && runs->order.size() > 1 &&
      place.decider.DecideNumber("loops", Space::OneOf({"tiles", "runs"}),
                                 [&] { return runs->joins() ? 1 : 0; }) == 1;
  if (as_runs) {
    WriteRuns(place, output, *runs, last, lanes, spec);
  } else {
    WriteTiles(place, workload, output, last, lanes, spec);
  }
}

}  // namespace tilewright::sketch
