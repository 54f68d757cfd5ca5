// Sums whose terms are divided among the lanes of a warp. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_LANE_SUMS_H_
#define TILEWRIGHT_SKETCH_SIMT_LANE_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "sketch/replay/growing_trace.h"
#include "sketch/simt/thread_nest.h"

namespace tilewright::sketch {

// Partial sums of each lane in registers, then those of all of them.
// `division`: of the block's own axes.
void WriteLaneSums(GrowingTrace& trace, const std::string& name,
                   const ThreadDivision& division, int64_t lanes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_LANE_SUMS_H_
