#include "tilegraph/traffic/cache_loops.h"

#include <algorithm>

namespace tilewright {

CacheLoops::CacheLoops(const TileWork& tile, const std::vector<TileLoop>& loops,
                       double capacity_bytes)
    : tile_(tile), loops_(loops), capacity_bytes_(capacity_bytes) {
  uint32_t dims = 0;
  for (const TileLoop& loop : loops) {
    dims_around_.push_back(dims);
    dims |= 1u << loop.dim;
  }
  dims_around_.push_back(dims);
}

double CacheLoops::Bytes(Operands list, size_t i) {
  return From(list, i, 0, 0);
}

// Whole transactions of all tiles that are partial along `partial`, and only
// those, of the dimensions around `depth`.
double CacheLoops::Moved(const TileWork& work, const TileOperand& operand,
                         size_t depth, uint32_t partial, int from_digit) const {
  double bytes = 0;
  for (size_t c = 0; c < work.classes.size(); ++c) {
    if ((work.classes[c].partial & DimsAround(depth)) != partial) continue;
    const TileOperand::OfClass& own = operand.classes[c];
    bytes += own.bytes * own.rounding[from_digit];
  }
  return bytes;
}

// Bytes that the loops from `depth` on touch in one move of those around, on
// average.
double CacheLoops::Touched(size_t depth, uint32_t partial) {
  const auto known = touched_.find({depth, partial});
  if (known != touched_.end()) return known->second;
  const TileWork& work = Covered(depth);
  double moves = 0, bytes = 0;
  for (const TileClass& one : work.classes) {
    if ((one.partial & DimsAround(depth)) == partial) moves += one.tiles;
  }
  for (const auto* list : {&work.inputs, &work.outputs}) {
    for (const TileOperand& operand : *list)
      bytes += Moved(work, operand, depth, partial, 0);
  }
  if (moves > 0) bytes /= moves;
  touched_.emplace(std::make_pair(depth, partial), bytes);
  return bytes;
}

double CacheLoops::From(Operands list, size_t i, size_t depth,
                        uint32_t partial) {
  const TileWork& work = Covered(depth);
  const TileOperand& operand = (work.*list)[i];
  if (Held(depth, partial)) return Moved(work, operand, depth, partial, 0);
  // Between moves of this loop what was used last is still there: all of the
  // operand, if the loops inside, up to what stays, do not move it.
  size_t inside = depth + 1;
  const TileOperand& of_tile = (tile_.*list)[i];
  while (!Held(inside, partial) && !of_tile.varies[loops_[inside].dim])
    ++inside;
  const int dim = loops_[depth].dim;
  if (Held(inside, partial)) {
    // Where moves meet they share transactions. The last move ends where the
    // next row, say, began in the first one: that is long ago.
    const bool recent = Touched(depth, partial) - Touched(depth + 1, partial) <=
                        capacity_bytes_;
    return Moved(work, operand, depth, partial,
                 recent ? 0 : std::max(0, of_tile.moved_digit[dim]));
  }
  return From(list, i, depth + 1, partial) +
         From(list, i, depth + 1, partial | 1u << dim);
}

}  // namespace tilewright
