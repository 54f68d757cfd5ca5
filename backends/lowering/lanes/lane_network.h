// Lane moves that permute the bits of an address, as a network of exchanges.
// Private to lane_moves.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_NETWORK_H_
#define TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_NETWORK_H_

#include <cstdint>
#include <optional>

#include "backends/lowering/lanes/lane_moves.h"
#include "backends/lowering/lanes/lane_steps.h"

namespace tilewright::lowering {

// As PlanLaneMoves; nullopt if the move is no permutation of address bits.
std::optional<LaneMoves> PlanLaneNetwork(int given, int given_lanes,
                                         int64_t element_bytes,
                                         const WantedLanes& wanted);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_LANES_LANE_NETWORK_H_
