// The loops of one block. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_OWN_LOOPS_H_
#define TILEWRIGHT_SKETCH_SIMT_OWN_LOOPS_H_

#include <string>
#include <vector>

#include "sketch/replay/growing_trace.h"

namespace tilewright::sketch {

// Those of the block's axes, the spatial ones first. REQUIRES: none of them is
// cut yet.
std::vector<LoopAround> OwnLoops(GrowingTrace& trace, const std::string& block);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_OWN_LOOPS_H_
