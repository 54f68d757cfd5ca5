#include "tilegraph/gpu/hardware/block_order.h"

#include <algorithm>
#include <numeric>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// Share of a cache that is still there when it is wanted again.
constexpr double kHeldShare = 0.75;

// A loop over blocks; a dim in panels has two.
struct Loop {
  int dim;
  int64_t extent;
  int64_t step;  // blocks of the dim that one turn moves
};

// Outermost first.
std::vector<Loop> LoopsOf(const BlockOrder& order,
                          absl::Span<const int64_t> grid) {
  std::vector<Loop> loops;
  for (const int dim : order.dims) loops.push_back({dim, grid[dim], 1});
  if (order.panel > 0 && loops.size() >= 2) {
    Loop& last = loops.back();
    const int64_t panels = CeilDiv(last.extent, order.panel);
    last.extent = std::min(last.extent, order.panel);
    loops.insert(loops.end() - 2, {last.dim, panels, order.panel});
  }
  return loops;
}

// The part of each loop that a wave covers: inner loops whole, one in part, and
// the outer ones once. `partial` is the index of that one, -1 if all are whole.
std::vector<int64_t> Covered(const std::vector<Loop>& loops, int64_t wave,
                             int& partial) {
  std::vector<int64_t> covered(loops.size(), 1);
  int64_t inside = 1;
  partial = -1;
  for (size_t i = loops.size(); i-- > 0;) {
    covered[i] = std::min(loops[i].extent, CeilDiv(wave, inside));
    if (covered[i] < loops[i].extent) {
      partial = static_cast<int>(i);
      break;
    }
    inside *= loops[i].extent;
  }
  return covered;
}

double TilesOf(const std::vector<Loop>& loops,
               const std::vector<int64_t>& covered,
               absl::Span<const int64_t> grid, const BlockOperand& operand) {
  std::vector<int64_t> reach(grid.size(), 1);
  for (size_t i = 0; i < loops.size(); ++i)
    reach[loops[i].dim] += (covered[i] - 1) * loops[i].step;
  double tiles = 1;
  for (size_t d = 0; d < grid.size(); ++d) {
    if (operand.varies[d])
      tiles *= static_cast<double>(std::min(reach[d], grid[d]));
  }
  return tiles;
}

}  // namespace

std::vector<int64_t> BlockAt(const BlockOrder& order,
                             absl::Span<const int64_t> grid, int64_t number) {
  std::vector<int64_t> at(grid.size(), 0);
  const size_t dims = order.dims.size();
  size_t plain = dims;  // loops outside the panels
  if (order.panel > 0 && dims >= 2) {
    plain = dims - 2;
    const int along = order.dims[dims - 2], across = order.dims[dims - 1];
    const int64_t plane = grid[along] * grid[across];
    const int64_t in_plane = number % plane;
    number /= plane;
    const int64_t panel = in_plane / (order.panel * grid[along]);
    const int64_t width =
        std::min(order.panel, grid[across] - panel * order.panel);
    const int64_t in_panel = in_plane - panel * order.panel * grid[along];
    at[along] = in_panel / width;
    at[across] = panel * order.panel + in_panel % width;
  }
  for (size_t i = plain; i-- > 0;) {
    at[order.dims[i]] = number % grid[order.dims[i]];
    number /= grid[order.dims[i]];
  }
  return at;
}

double TilesOfWave(const BlockOrder& order, absl::Span<const int64_t> grid,
                   const BlockOperand& operand, int64_t wave) {
  const std::vector<Loop> loops = LoopsOf(order, grid);
  int partial;
  return TilesOf(loops, Covered(loops, wave, partial), grid, operand);
}

double BytesOfWaves(const BlockOrder& order, absl::Span<const int64_t> grid,
                    absl::Span<const BlockOperand> operands, int64_t wave,
                    double cache_bytes) {
  const std::vector<Loop> loops = LoopsOf(order, grid);
  int partial;
  const std::vector<int64_t> covered = Covered(loops, wave, partial);
  double all = 0, of_wave = 0;
  for (const BlockOperand& operand : operands) {
    double tiles = 1;
    for (size_t d = 0; d < grid.size(); ++d)
      if (operand.varies[d]) tiles *= static_cast<double>(grid[d]);
    all += tiles * operand.tile_bytes;
    of_wave += TilesOf(loops, covered, grid, operand) * operand.tile_bytes;
  }
  if (partial < 0 || all <= kHeldShare * cache_bytes) return all;
  const bool held = 2 * of_wave <= kHeldShare * cache_bytes;
  double bytes = 0;
  for (const BlockOperand& operand : operands) {
    double times = 1;  // of the loops around a wave, up to the one that runs
    double moved = 1;  // up to the innermost that moves the operand
    for (int i = 0; i <= partial; ++i) {
      const bool moves = operand.varies[loops[i].dim];
      // The last wave covers what is left of it.
      times *= moves
                   ? static_cast<double>(loops[i].extent) /
                         static_cast<double>(covered[i])
                   : static_cast<double>(CeilDiv(loops[i].extent, covered[i]));
      if (moves) moved = times;
    }
    bytes += TilesOf(loops, covered, grid, operand) * operand.tile_bytes *
             (held ? moved : times);
  }
  return bytes;
}

BlockOrder BestBlockOrder(absl::Span<const int64_t> grid,
                          absl::Span<const BlockOperand> operands, int64_t wave,
                          double cache_bytes) {
  BlockOrder order;
  order.dims.resize(grid.size());
  std::iota(order.dims.begin(), order.dims.end(), 0);
  BlockOrder best = order;
  double least = BytesOfWaves(order, grid, operands, wave, cache_bytes);
  const auto consider = [&](const BlockOrder& candidate) {
    const double bytes =
        BytesOfWaves(candidate, grid, operands, wave, cache_bytes);
    if (bytes < least * (1 - 1e-9)) {
      least = bytes;
      best = candidate;
    }
  };
  // Which two dims run fastest is what matters.
  const int rank = static_cast<int>(grid.size());
  for (int along = 0; along < rank; ++along) {
    for (int across = rank - 1; across >= 0; --across) {
      if (along == across || (grid[along] == 1 && grid[across] == 1)) continue;
      order.dims.clear();
      for (int d = 0; d < rank; ++d)
        if (d != along && d != across) order.dims.push_back(d);
      order.dims.push_back(along);
      order.dims.push_back(across);
      for (int64_t panel = 0; panel < grid[across];
           panel = panel == 0 ? 1 : 2 * panel) {
        order.panel = panel;
        consider(order);
      }
    }
  }
  return best;
}

}  // namespace tilewright
