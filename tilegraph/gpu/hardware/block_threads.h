// One number of threads for all computes of a block, which work one after the
// other (Welder, section 4.1): the tiles of all should divide among them.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BLOCK_THREADS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BLOCK_THREADS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// A compute of the block.
struct BlockWork {
  int64_t pieces = 1;  // that threads can take: elements of its tile, times the
                       // threads that may share a reduction
  double work = 1;     // of all pieces, in any unit
};

struct BlockThreads {
  int64_t threads = 0;    // whole warps
  double efficiency = 0;  // work over that of all lanes, idle ones included
};

// Sizes within `least_share` of the best efficiency, the one that is nearest to
// a warp per scheduler first (128 threads on CUDA devices; the order of
// Welder's code). Common divisors of the pieces idle no lane and are always
// among them if there is one of whole warps. REQUIRES: `works` is not empty.
std::vector<BlockThreads> CommonBlockThreads(absl::Span<const BlockWork> works,
                                             const ComputeUnit& unit,
                                             double least_share = 0.9);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BLOCK_THREADS_H_
