// Lane moves as they are planned, step by step. Private to lane_moves.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_STEPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_STEPS_H_

#include <cstdint>
#include <vector>

#include "backends/lowering/lanes/lane_moves.h"

namespace tilewright::lowering {

// Lane by lane of every wanted vector.
using WantedLanes = std::vector<std::vector<LanePlace>>;

// The least number of bits that count to `n`.
int Log2(int64_t n);

// Equal to LaneMoves but with results that nobody may need.
class LaneSteps {
 public:
  explicit LaneSteps(int given) : given_(given), next_(given) {}

  // The number of the new value.
  int Add(int a, int b, std::vector<int> lanes);
  // Drops what no result needs.
  LaneMoves Finish(const std::vector<int>& results);

 private:
  LaneMoves moves_;
  int given_, next_;
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_STEPS_H_
