#include "sketch/rules/shared/tile_decisions.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kLeastTasksPerCore = 4;

const char* RoleOf(const OutputTiles& tiles, int axis) {
  if (axis == tiles.vector_axis) return "vectors";
  return axis == tiles.row_axis ? "rows" : "outer_rows";
}

// The most steps of `axis` that leave at least `least` tasks.
int64_t MostSteps(OutputTiles tiles, int axis, int64_t least) {
  tiles.axes[axis].steps = 1;
  const int64_t left = tiles.TilesLeft(axis);
  return MostStepsOfATask(left, tiles.Tasks() / std::max<int64_t>(1, left),
                          least);
}

}  // namespace

int64_t LeastTasks(int64_t cores, int64_t by_rule) {
  return std::min(by_rule, kLeastTasksPerCore * std::max<int64_t>(1, cores));
}

int64_t LeastTasks(const DeviceSpec& spec, int64_t by_rule) {
  return LeastTasks(spec.unit().cores(), by_rule);
}

int64_t MostStepsOfATask(int64_t left, int64_t others, int64_t least) {
  const int64_t here = CeilDiv(least, std::max<int64_t>(1, others));
  return here <= 1 ? left : std::max<int64_t>(1, (left - 1) / (here - 1));
}

RegisterTile DecideRegisterTile(Decider& decider, const TileSpace& space,
                                const RegisterTile& rule, Bits bits) {
  const int64_t registers = space.registers;
  // The rule may take all vectors of a stage, more than there are registers,
  // but then of one row.
  const bool wide = rule.vectors > registers;
  const auto most = [&](int64_t extent) {
    return wide ? int64_t{1} : std::clamp<int64_t>(extent, 1, registers);
  };
  // By value: the table keeps the space.
  const auto admits = [space, rule, wide](const DecisionValue& value) {
    const RegisterTile tile{value[0], value[1], value[2]};
    if (tile.vectors == rule.vectors && tile.rows == rule.rows &&
        tile.outer_rows == rule.outer_rows)
      return true;
    const int64_t held = tile.vectors * space.registers_per_unit;
    const bool fits =
        held * (tile.rows * tile.outer_rows + space.registers_per_load) +
            space.registers_beside <=
        space.registers;
    return fits && !wide && CountTiles(space, tile) >= space.least_tiles &&
           (!space.allowed || space.allowed(tile));
  };
  const DecisionValue value = decider.Decide(
      "tile",
      Space::Composite(
          {{"vectors",
            Space::Integers(1, wide ? rule.vectors : most(space.vectors))},
           {"rows", Space::Integers(1, most(space.rows))},
           {"outer_rows", Space::Integers(1, most(space.outer_rows))}},
          admits),
      [&] {
        return DecisionValue{rule.vectors, rule.rows, rule.outer_rows};
      },
      bits);
  return {value[0], value[1], value[2]};
}

void DecideSteps(Decider& decider, OutputTiles& tiles, const DeviceSpec& spec,
                 const std::vector<int>& axes, TaskBudget budget) {
  OutputTiles rule = tiles;
  for (const int axis : axes) {
    if (axis >= 0) TakeSteps(rule, axis, budget);
  }
  DecideSteps(decider, tiles, spec, axes, rule);
}

void DecideSteps(Decider& decider, OutputTiles& tiles, const DeviceSpec& spec,
                 const std::vector<int>& axes, const OutputTiles& rule) {
  const int64_t least = LeastTasks(spec, rule.Tasks());
  // Axes that come later take one step at least: the first ones may take all
  // that is left over.
  for (const int axis : axes) {
    if (axis < 0) continue;
    const int64_t most = MostSteps(tiles, axis, least);
    tiles.axes[axis].steps = decider.DecideNumber(
        absl::StrCat("task.", RoleOf(tiles, axis)), Space::Integers(1, most),
        [&] { return std::min(rule.axes[axis].steps, most); });
  }
}

void DecideStepOrder(Decider& decider, OutputTiles& tiles) {
  std::vector<int> axes;
  std::vector<std::string> roles;
  for (const int axis : tiles.StepOrder()) {
    if (tiles.axes[axis].steps == 1) continue;
    axes.push_back(axis);
    roles.push_back(RoleOf(tiles, axis));
  }
  if (axes.size() < 2) return;
  const DecisionValue order =
      decider.Decide("order", Space::Permutation(std::move(roles)), [&] {
        DecisionValue as_it_is(axes.size());
        std::iota(as_it_is.begin(), as_it_is.end(), 0);
        return as_it_is;
      });
  for (const int64_t i : order) tiles.step_order.push_back(axes[i]);
}

}  // namespace tilewright::sketch
