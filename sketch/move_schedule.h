// The default schedule of maps that read across: what they load lies side by
// side along another axis than what they store. Transpositions, conversions
// between layouts, head splits, and arithmetic around them.
//
// Both sides move whole cache lines: the tile spans lines along the axis of the
// output and along that of the input, and code generation transposes inside it.
#ifndef TILEWRIGHT_SKETCH_MOVE_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_MOVE_SCHEDULE_H_

#include <cstdint>
#include <optional>

#include "backends/spec/device_spec.pb.h"
#include "sketch/group_chain.h"
#include "sketch/place.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// The axis of the output along which an input lies side by side.
struct Crossing {
  int axis;
  int64_t run;  // elements that lie so, from a multiple of it on
};
// Of the largest input that is read across; nullopt if there is none.
// REQUIRES: the chain has no reduction.
std::optional<Crossing> FindCrossing(const Workload& workload,
                                     const Chain& chain);

// REQUIRES: `crossing` is the workload's.
void WriteMove(const Workload& workload, const DeviceSpec& spec,
               const Chain& chain, const Crossing& crossing,
               const Place& place);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_MOVE_SCHEDULE_H_
