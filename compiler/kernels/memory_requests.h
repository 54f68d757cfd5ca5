// What the warps of a kernel ask of a GPU's memories, from its scalar tier:
// sectors and lines of memory and turns of the banks
// (tilegraph/gpu/hardware/warp_access.h). What an L1 holds is asked for all the
// same.
#ifndef TILEWRIGHT_COMPILER_KERNELS_MEMORY_REQUESTS_H_
#define TILEWRIGHT_COMPILER_KERNELS_MEMORY_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/kernel_ir/analysis/thread_walk.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/gpu/hardware/warp_access.h"

namespace tilewright {

// Calls `each` with the accesses of the warps that the threads' access is made
// of. Offsets in scratch are those in the block's.
void ForWarps(const kernel_ir::ScalarKernel& kernel,
              const kernel_ir::ThreadAccess& access,
              const std::function<void(const WarpAccess&)>& each);

// Of all accesses of all blocks to a buffer: if it is an argument sectors, and
// lines as long as a row of the banks, of which an L1 looks one up a turn; else
// turns of the banks.
struct BufferRequests {
  double sectors = 0, lines = 0, turns = 0;
};

// By buffer. Exact for small kernels; of large ones a sample of the blocks and
// of the turns of loops. REQUIRES: kernel.has_threads(), verified.
std::vector<BufferRequests> CountRequests(const kernel_ir::ScalarKernel& kernel,
                                          const Banks& banks,
                                          int64_t sector_bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_MEMORY_REQUESTS_H_
