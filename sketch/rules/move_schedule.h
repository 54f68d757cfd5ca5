// Transposes and gathers: what they load lies side by side along another axis
// than what they store. Conversions between layouts, head splits, arithmetic
// around them.
//
// Both sides move whole cache lines: the tile spans lines along the axis of the
// output and along that of the input, and code generation transposes inside it.
// They decide
//
//   across  the axis along which an input is read in lines, where inputs differ
//   tile    lines (blocks, where those are shorter) of the output beside each
//           other, "columns", and of the input, "rows"
//   task.*  and order, as in tile_decisions.h
#ifndef TILEWRIGHT_SKETCH_RULES_MOVE_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_MOVE_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// The axis of the output along which an input lies side by side.
struct Crossing {
  int axis;
  int64_t run;  // elements that lie so, from a multiple of it on
};
// Returns the crossings of all inputs that are read across: the best axis of
// the largest first, each axis once. REQUIRES: the chain has no reduction.
std::vector<Crossing> FindCrossings(const Workload& workload,
                                    const Chain& chain);

// REQUIRES: `crossings` are the workload's, at least one.
void WriteMove(const Workload& workload, const DeviceSpec& spec,
               const Chain& chain, const std::vector<Crossing>& crossings,
               const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_MOVE_SCHEDULE_H_
