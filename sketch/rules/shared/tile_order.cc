#include "sketch/rules/shared/tile_order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

std::string NameOf(int axis) { return absl::StrCat("axis", axis); }

std::string RoleOf(const OutputTiles& tiles, int axis) {
  if (axis == tiles.vector_axis) return "vectors";
  if (axis == tiles.row_axis) return "rows";
  if (axis == tiles.outer_row_axis) return "outer_rows";
  return NameOf(axis);
}

}  // namespace

void DecideLanes(Decider& decider, OutputTiles& tiles,
                 absl::FunctionRef<bool(int axis)> may) {
  std::vector<int> axes;
  std::vector<std::string> options;
  for (int axis = 0; axis < static_cast<int>(tiles.shape.size()); ++axis) {
    if (axis != tiles.vector_axis && (tiles.shape[axis] == 1 || !may(axis)))
      continue;
    axes.push_back(axis);
    options.push_back(NameOf(axis));
  }
  const int64_t chosen =
      decider.DecideNumber("lanes", Space::OneOf(options), [&]() -> int64_t {
        return std::find(axes.begin(), axes.end(), tiles.vector_axis) -
               axes.begin();
      });
  if (axes[chosen] != tiles.vector_axis) SetVectorAxis(tiles, axes[chosen]);
}

void DecideRows(Decider& decider, OutputTiles& tiles, Bits bits) {
  std::vector<std::pair<int, int>> pairs;
  std::vector<std::string> options;
  const int rank = static_cast<int>(tiles.shape.size());
  const auto candidate = [&](int axis) {
    return axis != tiles.vector_axis && tiles.shape[axis] > 1;
  };
  for (int row = 0; row < rank; ++row) {
    for (int outer = 0; outer < rank; ++outer) {
      if (row == outer || !candidate(row) || !candidate(outer)) continue;
      pairs.emplace_back(row, outer);
      options.push_back(absl::StrCat(NameOf(row), "*", NameOf(outer)));
    }
  }
  if (pairs.empty()) return;
  const int64_t chosen = decider.DecideNumber(
      "rows", Space::OneOf(options),
      [&]() -> int64_t {
        const auto rule =
            std::find(pairs.begin(), pairs.end(),
                      std::pair(tiles.row_axis, tiles.outer_row_axis));
        TW_CHECK(rule != pairs.end());
        return rule - pairs.begin();
      },
      bits);
  std::tie(tiles.row_axis, tiles.outer_row_axis) = pairs[chosen];
}

void DecideTaskOrder(Decider& decider, OutputTiles& tiles) {
  std::vector<int> axes;
  std::vector<std::string> names;
  for (int axis = 0; axis < static_cast<int>(tiles.shape.size()); ++axis) {
    if (tiles.TilesLeft(axis) <= 1) continue;
    axes.push_back(axis);
    names.push_back(RoleOf(tiles, axis));
  }
  if (axes.size() < 2) return;
  const DecisionValue order =
      decider.Decide("task.order", Space::Permutation(std::move(names)), [&] {
        DecisionValue as_it_is(axes.size());
        std::iota(as_it_is.begin(), as_it_is.end(), 0);
        return as_it_is;
      });
  for (const int64_t i : order) tiles.task_order.push_back(axes[i]);
}

}  // namespace tilewright::sketch
