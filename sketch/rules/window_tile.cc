#include "sketch/rules/window_tile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/ceil_div.h"

namespace tilewright::sketch {
namespace {

// In units of one multiply-add: what a load costs beside it, a step of a loop
// around the tile, and starting a tile and storing its results.
constexpr double kLoadCost = 0.35;
constexpr double kStepCost = 2;
constexpr double kTileCost = 6;
constexpr double kStoreCost = 2;
// Fewer accumulators than this leave the units waiting for each other.
constexpr double kAccumulatorsToHideLatency = 8;
// Unrolled multiply-adds: more is long code for no gain.
constexpr int64_t kMostUnrolled = 176;
constexpr int64_t kMostTaps = 49;
// Parts of reduce axes longer than this are tried too.
constexpr int64_t kLongAxis = 8;
// Shared operands that stay in registers from tile to tile.
constexpr int64_t kMostHeld = 10;
// Windows without weights, which are soon bound by memory. Elements (vectors)
// that a tile loads at most: while it combines more of them, the loads of the
// next tile do not begin, and units and memory take turns.
constexpr int64_t kMostLoaded = 27;
// Where they do not overlap from row to row, costs in cycles: another row of
// the image in a tile, one that may lie outside too, and a line that comes from
// or goes to the outermost cache (64 bytes at 25 a cycle).
constexpr double kImageRowCost = 4;
constexpr double kGuardedRowCost = 12;
constexpr double kLineCost = 5.5;
// Where they do, high and narrow tiles read fewer rows twice, and more of them
// are on their way from memory at the same time, up to a number. Costs of
// another column and row of the image; elements and rows at most
// (docs/results/kernels.md).
constexpr double kOverlappingColumnCost = 4.5;
constexpr double kOverlappingRowCost = 0.4;
constexpr int64_t kMostLoadedOverlapping = 36;
constexpr int64_t kMostRowsOverlapping = 11;

bool Moves(const WindowAccess& access, int axis) {
  for (const auto& dim : access.dims) {
    for (const WindowAccess::Term& term : dim) {
      if (term.axis == axis) return true;
    }
  }
  return false;
}

// Whether a dimension is indexed by outputs and window together: weights have
// none.
bool Slides(const WindowAccess& access) {
  for (const auto& dim : access.dims) {
    bool output = false, window = false;
    for (const WindowAccess::Term& term : dim)
      (term.axis < kFirstReduceAxis ? output : window) = true;
    if (output && window) return true;
  }
  return false;
}

class Chooser {
 public:
  explicit Chooser(const WindowSpace& space) : space_(space) {}

  WindowTile Run() {
    best_.unrolled.assign(space_.reduce.size(), 1);
    WindowTile tile = best_;
    UnrollFrom(0, 1, tile);
    return Stream(best_);
  }

  WindowTile Run(const std::vector<int64_t>& unrolled) {
    best_.unrolled = unrolled;
    TryTiles(best_);
    return Stream(best_);
  }

  // The time that counts is the one until the last core is done.
  WindowTile Share(const TileTasks& tasks, const WindowTile& tile) {
    tasks_ = tasks;
    best_ = tile;
    least_ = Cost(tile);
    TryTiles(tile);
    return best_;
  }

  bool Fits(const WindowTile& tile) {
    const std::vector<int64_t> extents =
        Extents(tile.vectors, tile.rows, tile.outer_rows, tile.unrolled);
    int64_t live = Outputs(tile) + tile.vectors;  // of the epilogue, or on its
                                                  // way
    for (const WindowAccess& access : space_.accesses)
      live += Shared(access) ? Distinct(access, extents) : 0;
    return live * space_.registers_per_unit + space_.temporaries + 2 <=
           space_.registers;
  }

 private:
  // `tile`; but of windows without weights that are unrolled whole, the one
  // with the same taps that passes through memory best.
  WindowTile Stream(const WindowTile& tile) {
    streams_ = tile.unrolled == space_.reduce;
    for (const WindowAccess& access : space_.accesses)
      streams_ &= Slides(access);
    if (!streams_) return tile;
    const std::vector<int64_t> one = Extents(1, 1, 1, tile.unrolled),
                               two = Extents(1, 1, 2, tile.unrolled);
    overlaps_ = ImageRows(two) < 2 * ImageRows(one);
    memory_cost_ = overlaps_ ? 0 : MemoryCost();
    best_ = tile;
    least_ = std::numeric_limits<double>::infinity();
    TryTiles(tile);
    return best_;
  }

  // Tries to unroll none, a part or all of the reduce axes from `axis` on.
  void UnrollFrom(size_t axis, int64_t taps, WindowTile& tile) {
    if (axis == space_.reduce.size()) {
      TryTiles(tile);
      return;
    }
    const int64_t whole = space_.reduce[axis];
    std::vector<int64_t> parts = {1};
    if (whole > kLongAxis) parts.insert(parts.end(), {4, 6, 8});
    if (whole > 1) parts.push_back(whole);
    for (const int64_t part : parts) {
      if (taps * part > kMostTaps) continue;
      tile.unrolled[axis] = part;
      UnrollFrom(axis + 1, taps * part, tile);
    }
    tile.unrolled[axis] = 1;
  }

  void TryTiles(WindowTile tile) {
    const int64_t most = std::max<int64_t>(1, space_.registers);
    for (const int64_t vectors : {1, 2, 4, 8}) {
      if (vectors > 1 && vectors > space_.vectors) continue;
      for (int64_t rows = 1; rows <= std::min(most, space_.rows); ++rows) {
        for (int64_t outer = 1;
             outer <= std::min(most / rows, space_.outer_rows); ++outer) {
          tile.vectors = vectors;
          tile.rows = rows;
          tile.outer_rows = outer;
          if (IsLong(tile) || !Fits(tile)) break;
          if (CountTiles(space_, tile) < space_.least_tiles ||
              !IsPreferable(tile))
            continue;
          const double cost = Cost(tile);
          if (cost < least_ ||
              (cost <= least_ && space_.long_runs && HasLongerRows(tile)))
            best_ = tile, least_ = cost;
        }
      }
    }
  }

  // How many different elements (vectors) an access touches when the axes take
  // `extents` steps.
  int64_t Distinct(const WindowAccess& access,
                   const std::vector<int64_t>& extents) {
    int64_t product = 1;
    for (const auto& dim : access.dims) {
      Sum sum;
      for (const WindowAccess::Term& term : dim) {
        const int64_t extent = extents[term.axis];
        if (term.axis == kVectorAxis) {
          product *= CeilDiv(extent, term.shared);
        } else if (extent > 1) {
          sum.push_back({extent, term.stride});
        }
      }
      product *= Values(sum);
    }
    return product;
  }

  // Steps and strides of what is added up.
  using Sum = std::vector<std::pair<int64_t, int64_t>>;
  int64_t Values(const Sum& sum) {
    if (sum.empty()) return 1;
    if (sum.size() == 1) return sum[0].first;
    auto [found, inserted] = values_.try_emplace(sum);
    if (!inserted) return found->second;
    std::set<int64_t> values = {0};
    for (const auto& [steps, stride] : sum) {
      std::set<int64_t> next;
      for (const int64_t value : values) {
        for (int64_t i = 0; i < steps; ++i) next.insert(value + i * stride);
      }
      values = std::move(next);
    }
    return found->second = static_cast<int64_t>(values.size());
  }

  std::vector<int64_t> Extents(int64_t vectors, int64_t rows, int64_t outer,
                               const std::vector<int64_t>& unrolled) const {
    std::vector<int64_t> extents = {vectors, rows, outer};
    extents.insert(extents.end(), unrolled.begin(), unrolled.end());
    return extents;
  }

  // Operands that rows share wait in registers; the others pass by.
  bool Shared(const WindowAccess& access) const {
    return !Moves(access, kRowAxis) && !Moves(access, kOuterRowAxis);
  }

  static int64_t Outputs(const WindowTile& tile) {
    return tile.vectors * tile.rows * tile.outer_rows;
  }

  // Whether a tile stores as much as the best one so far, but in longer runs.
  bool HasLongerRows(const WindowTile& tile) const {
    return tile.vectors == best_.vectors && tile.rows > best_.rows &&
           Outputs(tile) == Outputs(best_);
  }

  static bool IsLong(const WindowTile& tile) {
    int64_t taps = 1;
    for (const int64_t n : tile.unrolled) taps *= n;
    return taps > 1 && Outputs(tile) * taps > kMostUnrolled;
  }

  bool IsPreferable(const WindowTile& tile) {
    const bool fills_much =
        tile.rows * tile.outer_rows > 1 &&
        Outputs(tile) * space_.registers_per_unit > space_.most_outputs;
    return !fills_much && !LoadsMuch(tile) &&
           (!space_.allowed || space_.allowed(tile));
  }

  bool LoadsMuch(const WindowTile& tile) {
    if (!streams_) return false;
    const std::vector<int64_t> extents =
        Extents(tile.vectors, tile.rows, tile.outer_rows, tile.unrolled);
    if (!overlaps_) return Loaded(extents) > kMostLoaded;
    return Loaded(extents) > kMostLoadedOverlapping ||
           ImageRows(extents) > kMostRowsOverlapping;
  }

  // Different elements (vectors) of all accesses.
  int64_t Loaded(const std::vector<int64_t>& extents) {
    int64_t loaded = 0;
    for (const WindowAccess& access : space_.accesses)
      loaded += Distinct(access, extents);
    return loaded;
  }

  // Returns the cost of reading and writing everything once.
  double MemoryCost() {
    const int64_t outputs = space_.vectors * space_.rows * space_.outer_rows;
    const int64_t loaded = Loaded(
        Extents(space_.vectors, space_.rows, space_.outer_rows, space_.reduce));
    return kLineCost * static_cast<double>(outputs + loaded);
  }

  // Time over the whole output, in multiply-adds: of one tile after the other,
  // or of cores that take tiles at once. Not less than memory takes: of the
  // tiles that are as fast, the first and smallest is preferred.
  double Cost(const WindowTile& tile) {
    if (tasks_) {
      return CostOnCores(
          CountTiles(space_, tile), *tasks_,
          CostOfTile(tile, tile.vectors, tile.rows, tile.outer_rows));
    }
    double cost = 0;
    for (const auto& [one, count] :
         TilesOf({space_.vectors, space_.rows, space_.outer_rows},
                 {tile.vectors, tile.rows, tile.outer_rows}))
      cost += static_cast<double>(count) *
              CostOfTile(tile, one.vectors, one.rows, one.outer_rows);
    return std::max(cost, memory_cost_);
  }

  // Returns the cost of a tile that ends after so many vectors, rows and outer
  // rows.
  double CostOfTile(const WindowTile& tile, int64_t vectors, int64_t rows,
                    int64_t outer_rows) {
    double steps = 1, taps = 1;
    for (size_t i = 0; i < space_.reduce.size(); ++i) {
      steps *= static_cast<double>(CeilDiv(space_.reduce[i], tile.unrolled[i]));
      taps *= static_cast<double>(tile.unrolled[i]);
    }
    const double unit = space_.registers_per_unit;
    const std::vector<int64_t> extents =
        Extents(vectors, rows, outer_rows, tile.unrolled);
    double loads = 0;
    for (const WindowAccess& access : space_.accesses) {
      const int64_t distinct = Distinct(access, extents);
      if (steps > 1 || !Shared(access) || distinct > kMostHeld)
        loads += static_cast<double>(distinct) * unit * access.work;
    }
    const double outputs =
        static_cast<double>(vectors * rows * outer_rows) * unit;
    // Tiles without weights and steps do not wait for each other.
    const double busy =
        streams_ ? outputs : std::max(outputs, kAccumulatorsToHideLatency);
    return steps * (busy * taps * space_.operations + kLoadCost * loads +
                    (steps > 1 ? kStepCost : 0)) +
           kTileCost + kStoreCost * outputs +
           (streams_ ? ImageCost(extents) : 0);
  }

  // What the shape of a tile without weights costs.
  double ImageCost(const std::vector<int64_t>& extents) {
    const auto rows = static_cast<double>(ImageRows(extents));
    if (overlaps_) {
      const auto columns =
          static_cast<double>(ImageLines(extents, kOuterRowAxis));
      return kOverlappingColumnCost * columns + kOverlappingRowCost * rows;
    }
    return (space_.guarded ? kGuardedRowCost : kImageRowCost) * rows;
  }

  // Rows of images that a tile reads in.
  int64_t ImageRows(const std::vector<int64_t>& extents) {
    return ImageLines(extents, kRowAxis);
  }

  // Rows or columns: what does not move with `axis`.
  int64_t ImageLines(std::vector<int64_t> extents, int axis) {
    extents[kVectorAxis] = 1;
    int64_t lines = 0;
    for (WindowAccess access : space_.accesses) {
      for (auto& dim : access.dims) {
        if (Moves({{dim}}, axis)) dim.clear();
      }
      lines += Distinct(access, extents);
    }
    return lines;
  }

  const WindowSpace& space_;
  bool streams_ = false;            // choosing for windows without weights
  bool overlaps_ = false;           // of those: from row to row
  double memory_cost_ = 0;          // of the whole output, if so
  std::optional<TileTasks> tasks_;  // of cores that take tiles at once
  std::map<Sum, int64_t> values_;
  WindowTile best_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

int64_t CountTiles(const WindowSpace& space, const WindowTile& tile) {
  return CeilDiv(space.vectors, tile.vectors) * CeilDiv(space.rows, tile.rows) *
         CeilDiv(space.outer_rows, tile.outer_rows);
}

bool FitsRegisters(const WindowSpace& space, const WindowTile& tile) {
  return Chooser(space).Fits(tile);
}

WindowTile ChooseWindowTile(const WindowSpace& space) {
  return Chooser(space).Run();
}

WindowTile ChooseWindowTile(const WindowSpace& space,
                            const std::vector<int64_t>& unrolled) {
  return Chooser(space).Run(unrolled);
}

WindowTile ShareWindowTiles(const WindowSpace& space, const TileTasks& tasks,
                            const WindowTile& tile) {
  if (!LeavesCoresIdle(CountTiles(space, tile), tasks)) return tile;
  return Chooser(space).Share(tasks, tile);
}

}  // namespace tilewright::sketch
