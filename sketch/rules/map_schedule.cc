#include "sketch/rules/map_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/tile_decisions.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/simplify.h"

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

// Elements of a task, about.
int64_t ElementsOfTask(const std::vector<int64_t>& shape, int64_t lanes,
                       const DeviceSpec& spec) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  const int64_t cores = std::max<int64_t>(1, spec.unit().cores());
  return std::max(lanes * kVectors,
                  std::min(kOperationsPerTask / kOperationsPerElement,
                           elements / (kTasksPerCore * cores)));
}

RunTask RunTaskByRule(const std::vector<int64_t>& shape, const Runs& runs,
                      int64_t per_task) {
  RunTask task;
  while (task.cut + 1 < runs.order.size() &&
         Inside(shape, runs, task.cut) > per_task)
    ++task.cut;
  task.extent = TaskExtentByRule(shape, runs, task.cut, per_task);
  return task;
}

int64_t TasksOf(const std::vector<int64_t>& shape, const Runs& runs,
                const RunTask& task) {
  return Outside(shape, runs, task.cut) *
         CeilDiv(shape[runs.order[task.cut]], task.extent);
}

// The axes whose steps are enough for the tasks, and not less than a vector
// each; at least the rule's, if that has enough.
std::vector<size_t> CutsOf(const std::vector<int64_t>& shape, const Runs& runs,
                           const RunTask& rule, int64_t lanes, int64_t least) {
  std::vector<size_t> cuts;
  for (size_t cut = 0; cut < runs.order.size(); ++cut) {
    const int64_t extent = shape[runs.order[cut]];
    if (Outside(shape, runs, cut) * extent >= least &&
        (extent * Inside(shape, runs, cut) >= lanes || cut == rule.cut))
      cuts.push_back(cut);
  }
  return cuts;
}

// REQUIRES: some cut leaves `least` tasks.
RunTask DecideRunTask(Decider& decider, const std::vector<int64_t>& shape,
                      const Runs& runs, int64_t lanes, int64_t least,
                      const DeviceSpec& spec) {
  const int64_t per_task = ElementsOfTask(shape, lanes, spec);
  const RunTask rule = RunTaskByRule(shape, runs, per_task);
  const std::vector<size_t> cuts = CutsOf(shape, runs, rule, lanes, least);
  std::vector<std::string> names;
  int64_t rule_option = 0;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i] == rule.cut) rule_option = static_cast<int64_t>(i);
    names.push_back(absl::StrCat("axis", runs.order[cuts[i]]));
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
void WriteRuns(const ComputeLocation& location, const Tensor& output,
               const Runs& runs, Handle block, int64_t lanes, int64_t least,
               const DeviceSpec& spec) {
  ScheduleWriter& writer = location.writer;
  const std::vector<int64_t> shape = output.static_shape();
  const RunTask task =
      DecideRunTask(location.decider, shape, runs, lanes, least, spec);
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
      location.decider.DecideNumber("vectors", Space::Integers(1, most),
                                    [&] { return std::min(kVectors, most); });
  const int64_t tile = std::min(run_extent, vectors * lanes);
  const std::vector<Handle> parts =
      writer.Split(along, Factors{CeilDiv(run_extent, tile), tile});
  writer.Annotate(parts[1], "tile");
}

// The tiles of a map: what is unrolled together, along the vector axis or, of
// blocked layouts, by preference along the axis whose neighbours lie behind a
// block.
class MapTiles {
 public:
  MapTiles(const Workload& workload, const Tensor& output, int64_t lanes)
      : start_(StartTiles(workload, output.id)),
        unit_(UnitOf(workload, output.id, lanes)),
        registers_(CeilDiv(unit_.elements, lanes)),
        units_(CeilDiv(start_.shape[start_.vector_axis], unit_.elements)),
        rows_(start_.row_axis < 0 ? 1 : start_.shape[start_.row_axis]),
        together_(std::max<int64_t>(1, kVectors / registers_)),
        along_rows_(unit_.blocked && start_.row_axis >= 0) {}

  // Tiles that `rule` leaves, and the smallest one.
  int64_t CountByRule() const { return With(Rule()).Tasks(); }
  int64_t MostTiles() const { return With({1, 1}).Tasks(); }

  // "tile". `least`: tiles that are left at least.
  OutputTiles Decide(const ComputeLocation& location, int64_t least) const {
    DecisionValue rule = Rule();
    if (With(rule).Tasks() < least) rule = {1, 1};
    const auto admits = [*this, rule, least,
                         inside = location.inside.has_value(),
                         bounds = location.bounds](const DecisionValue& value) {
      if (value == rule) return true;
      if (value[0] * value[1] * registers_ > kMostVectors) return false;
      if (!inside) return With(value).Tasks() >= least;
      return bounds.Allow(start_.vector_axis, value[0] * unit_.elements,
                          start_.shape[start_.vector_axis]) &&
             bounds.Allow(start_.row_axis, value[1], rows_);
    };
    const int64_t most = std::max(together_, kMostVectors / registers_);
    OutputTiles tiles = With(location.decider.Decide(
        "tile",
        Space::Composite(
            {{"vectors", Space::Integers(1, std::min(units_, most))},
             {"rows", Space::Integers(1, std::min(rows_, most))}},
            admits),
        [&] { return rule; }));
    tiles.vectors_inside = !along_rows_;
    return tiles;
  }

 private:
  DecisionValue Rule() const {
    return {along_rows_ ? 1 : std::min(units_, together_),
            along_rows_ ? std::min(together_, rows_) : 1};
  }

  OutputTiles With(const DecisionValue& value) const {
    OutputTiles result = start_;
    SetVectors(result, unit_, value[0]);
    if (result.row_axis >= 0) result.axes[result.row_axis].tile = value[1];
    return result;
  }

  OutputTiles start_;
  VectorUnit unit_;
  int64_t registers_;  // of a unit
  int64_t units_, rows_;
  int64_t together_;  // units of a tile by rule
  bool along_rows_;
};

void WriteTiles(const ComputeLocation& location, const Tensor& output,
                const MapTiles& map, Handle block, int64_t least,
                const DeviceSpec& spec) {
  OutputTiles tiles = map.Decide(location, least);
  if (location.inside) {
    TakeWhole(tiles);
  } else {
    const std::vector<int> axes =
        tiles.vectors_inside
            ? std::vector<int>{tiles.vector_axis, tiles.row_axis,
                               tiles.outer_row_axis}
            : std::vector<int>{tiles.row_axis, tiles.outer_row_axis,
                               tiles.vector_axis};
    DecideSteps(location.decider, tiles, spec, axes,
                BudgetOf(tiles, spec, kOperationsPerElement));
  }
  DecideStepOrder(location.decider, tiles);
  if (!location.inside) WriteTasks(location.writer, tiles, block);
  TileMap(location.writer, tiles, block, output.compute.axes, true);
}

// Whether loops pass through runs, and the tasks that all answers leave.
struct LoopChoice {
  bool as_runs = false;
  int64_t least = 1;
};

// "loops", where both ways are.
LoopChoice DecideLoops(Decider& decider, const std::vector<int64_t>& shape,
                       const std::optional<Runs>& runs, const MapTiles& map,
                       int64_t lanes, const DeviceSpec& spec) {
  if (!runs || runs->order.size() < 2)
    return {false, LeastTasks(spec, map.CountByRule())};
  const RunTask rule =
      RunTaskByRule(shape, *runs, ElementsOfTask(shape, lanes, spec));
  LoopChoice choice;
  choice.least = LeastTasks(
      spec, runs->joins() ? TasksOf(shape, *runs, rule) : map.CountByRule());
  std::vector<std::string> options;
  if (!runs->joins() || map.MostTiles() >= choice.least)
    options.emplace_back("tiles");
  if (runs->joins() || !CutsOf(shape, *runs, rule, lanes, choice.least).empty())
    options.emplace_back("runs");
  const std::string wanted = runs->joins() ? "runs" : "tiles";
  choice.as_runs =
      options[decider.DecideNumber("loops", Space::OneOf(options), [&] {
        return std::find(options.begin(), options.end(), wanted) -
               options.begin();
      })] == "runs";
  return choice;
}

}  // namespace

void WriteMap(const Workload& workload, const DeviceSpec& spec,
              const Chain& chain, const ComputeLocation& location) {
  const TensorGraph& graph = workload.graph;
  const Tensor& output = graph.tensor(chain.output);
  ScheduleWriter& writer = location.writer;
  for (const std::string& block : chain.inlined)
    writer.ComputeInline(writer.Block(block));
  const Handle last = writer.Block(chain.last);
  if (output.shape.empty()) return;
  const int64_t lanes = Lanes(graph, spec);
  const MapTiles map(workload, output, lanes);
  // The stages of a fused group follow the axes of their tile.
  if (location.inside) return WriteTiles(location, output, map, last, 1, spec);
  const std::optional<Runs> runs =
      FindRuns(workload, chain.output, InlinedBody(graph, chain.output));
  const LoopChoice choice = DecideLoops(location.decider, output.static_shape(),
                                        runs, map, lanes, spec);
  if (choice.as_runs) {
    WriteRuns(location, output, *runs, last, lanes, choice.least, spec);
  } else {
    WriteTiles(location, output, map, last, choice.least, spec);
  }
}

}  // namespace tilewright::sketch
