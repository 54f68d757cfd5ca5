// The default schedule of sliding windows in which outputs share no operand
// but the overlap of their windows: depthwise convolutions and pooling, in any
// number of dimensions. Every load but those of constants moves with every
// axis of the output, so nothing is broadcast: what there is to reuse are the
// elements that neighbouring windows share and, along rows, the weights. The
// innermost window axes are unrolled inside the register tile, where lowering
// loads each shared element once. What is decided: window_decisions.h; in tasks
// of their own, also the steps of tile_decisions.h.
#ifndef TILEWRIGHT_SKETCH_RULES_WINDOW_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_WINDOW_SCHEDULE_H_

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Whether the chain's reduction slides a window.
// REQUIRES: `chain` is that of the workload's graph.
bool IsWindow(const Workload& workload, const Chain& chain);

// REQUIRES: IsWindow.
void WriteWindow(const Workload& workload, const DeviceSpec& spec,
                 const Chain& chain, const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINDOW_SCHEDULE_H_
