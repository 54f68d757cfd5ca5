// Bytes that come into a cache while loops run over tiles; the cache keeps what
// was used last.
//
// All that the loops from some depth on touch stays if it fits: an operand
// comes in once per move of the loops around, and consecutive regions share
// what they overlap in, whole transactions too. Loops of which the last tile is
// partial are followed for whole and partial tiles apart: less may fit there.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_CACHE_LOOPS_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_CACHE_LOOPS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tilegraph/traffic/tile_work.h"

namespace tilewright {

// A loop of several tiles along a dimension of the outputs.
struct TileLoop {
  int dim;
  // The box that this loop and those inside of it cover together.
  const TileWork* covered;
};

class CacheLoops {
 public:
  // Both must outlive it: the work of a tile, loops outermost first.
  CacheLoops(const TileWork& tile, const std::vector<TileLoop>& loops,
             double capacity_bytes);

  // Bytes of operand `i` of the list, over all tiles, that come in, or are
  // touched and go out.
  using Operands = std::vector<TileOperand> TileWork::*;
  double Bytes(Operands list, size_t i);

 private:
  const TileWork& Covered(size_t depth) const {
    return depth < loops_.size() ? *loops_[depth].covered : tile_;
  }
  uint32_t DimsAround(size_t depth) const { return dims_around_[depth]; }
  double Touched(size_t depth, uint32_t partial);
  bool Held(size_t depth, uint32_t partial) {
    return depth == loops_.size() || Touched(depth, partial) <= capacity_bytes_;
  }
  double Moved(const TileWork& work, const TileOperand& operand, size_t depth,
               uint32_t partial, int from_digit) const;
  double From(Operands list, size_t i, size_t depth, uint32_t partial);

  const TileWork& tile_;
  const std::vector<TileLoop>& loops_;
  const double capacity_bytes_;
  std::vector<uint32_t> dims_around_;                      // by depth
  std::map<std::pair<size_t, uint32_t>, double> touched_;  // looked up only
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_CACHE_LOOPS_H_
