#include "sketch/rules/window_decisions.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/rules/shared/tile_decisions.h"

namespace tilewright::sketch {
namespace {

// Lowering unrolls no more, and beyond so many operations there is nothing left
// to share.
constexpr int64_t kMostTaps = 64;
constexpr int64_t kMostOperations = 512;

std::string NameOf(int axis) { return absl::StrCat("r", axis); }

int64_t Taps(const std::vector<int64_t>& unrolled) {
  return std::accumulate(unrolled.begin(), unrolled.end(), int64_t{1},
                         std::multiplies<>());
}

bool Fits(const WindowSpace& space, const WindowTile& tile) {
  const int64_t taps = Taps(tile.unrolled);
  const int64_t operations = tile.vectors * tile.rows * tile.outer_rows * taps;
  return taps <= kMostTaps && (taps == 1 || operations <= kMostOperations) &&
         FitsRegisters(space, tile);
}

// The most steps of `axis` that fit around the smallest tile, the other axes as
// they are: more of an axis never need fewer registers.
int64_t MostTaps(const WindowSpace& space, std::vector<int64_t> unrolled,
                 size_t axis) {
  int64_t most = 1;
  for (int64_t taps = 2; taps <= space.reduce[axis]; ++taps) {
    unrolled[axis] = taps;
    if (!Fits(space, {1, 1, 1, unrolled})) break;
    most = taps;
  }
  return most;
}

}  // namespace

WindowTile DecideWindowTile(Decider& decider, WindowSpace space,
                            const std::optional<TileTasks>& tasks) {
  const auto shared = [&](const WindowTile& tile) {
    return tasks ? ShareWindowTiles(space, *tasks, tile) : tile;
  };
  std::optional<WindowTile> rule;
  const auto prefer = [&]() -> const WindowTile& {
    if (!rule) rule = shared(ChooseWindowTile(space));
    return *rule;
  };
  std::vector<int64_t> unrolled(space.reduce.size(), 1);
  for (size_t axis = space.reduce.size(); axis-- > 0;) {
    if (space.reduce[axis] == 1) continue;
    const int64_t most = MostTaps(space, unrolled, axis);
    unrolled[axis] = decider.DecideNumber(
        absl::StrCat("taps.", NameOf(static_cast<int>(axis))),
        Space::Integers(1, most),
        [&] { return std::min(most, prefer().unrolled[axis]); },
        Bits::kMayChange);
  }
  if (tasks) {
    const int64_t least =
        LeastTasks(tasks->cores, CountTiles(space, prefer()) * tasks->others);
    space.least_tiles = CeilDiv(least, tasks->others);
  }
  const WindowTile best = rule && rule->unrolled == unrolled
                              ? *rule
                              : shared(ChooseWindowTile(space, unrolled));
  const auto tile_of = [unrolled](const DecisionValue& value) {
    return WindowTile{value[0], value[1], value[2], unrolled};
  };
  // By value: the table keeps the space.
  const auto admits = [space, best, tile_of](const DecisionValue& value) {
    const WindowTile tile = tile_of(value);
    // The best may be one that does not fit, if none does.
    if (tile.vectors == best.vectors && tile.rows == best.rows &&
        tile.outer_rows == best.outer_rows)
      return true;
    return Fits(space, tile) && CountTiles(space, tile) >= space.least_tiles &&
           (!space.allowed || space.allowed(tile));
  };
  const auto up_to = [&](int64_t extent) {
    return Space::Integers(
        1, std::clamp<int64_t>(extent, 1, std::max(1, space.registers)));
  };
  return tile_of(decider.Decide(
      "tile",
      Space::Composite({{"vectors", up_to(space.vectors)},
                        {"rows", up_to(space.rows)},
                        {"outer_rows", up_to(space.outer_rows)}},
                       admits),
      [&] {
        return DecisionValue{best.vectors, best.rows, best.outer_rows};
      }));
}

std::vector<int> DecideReduceOrder(Decider& decider, const std::string& name,
                                   std::vector<int> axes) {
  if (axes.size() < 2) return axes;
  std::vector<std::string> names;
  for (const int axis : axes) names.push_back(NameOf(axis));
  const DecisionValue order = decider.Decide(
      name, Space::Permutation(std::move(names)),
      [&] {
        DecisionValue as_they_are(axes.size());
        std::iota(as_they_are.begin(), as_they_are.end(), 0);
        return as_they_are;
      },
      Bits::kMayChange);
  std::vector<int> ordered;
  for (const int64_t i : order) ordered.push_back(axes[i]);
  return ordered;
}

WindowPack DecideWindowPack(Decider& decider, bool wide) {
  std::vector<std::string> options = {"panels", "plain"};
  if (wide) options.emplace_back("vectors");
  switch (decider.DecideNumber("pack", Space::OneOf(std::move(options)),
                               [] { return 0; })) {
    case 0:
      return WindowPack::kTile;
    case 1:
      return WindowPack::kPlain;
    default:
      return WindowPack::kVector;
  }
}

}  // namespace tilewright::sketch
