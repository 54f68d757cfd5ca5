// How lanes get from some vectors into others, as shuffles of two vectors.
//
// Where the move is a permutation of address bits (transposing 2^n vectors of
// 2^n lanes, interleaving 2^n of them), a network of log2 stages does it: each
// stage exchanges one bit of the vector's number with one of the lane's.
// Anything else picks each wanted vector out of its sources one after another.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_MOVES_H_
#define TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_MOVES_H_

#include <cstdint>
#include <vector>

namespace tilewright::lowering {

// A lane of a given vector; vector -1: any value will do.
struct LanePlace {
  int vector = -1;
  int lane = 0;
};

struct LaneMoves {
  // Lane i of the result is lane lanes[i] of those of `a` followed by those of
  // `b`.
  struct Step {
    int a, b;
    std::vector<int> lanes;
  };
  // Values are numbered: the given vectors, then the results of the steps.
  std::vector<Step> steps;
  std::vector<int> results;  // the value of each wanted vector
};

// From `given` vectors of `given_lanes` lanes to the wanted ones, which are all
// of one size. REQUIRES: sizes are powers of two; given > 0.
LaneMoves PlanLaneMoves(int given, int given_lanes, int64_t element_bytes,
                        const std::vector<std::vector<LanePlace>>& wanted);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_MOVES_H_
