// What the threads of one block of a kernel do, counted from its scalar tier:
// indices are followed thread by thread, and a loop counts as its first
// iteration times their number.
#ifndef TILEWRIGHT_BENCH_GPU_BLOCK_WORK_H_
#define TILEWRIGHT_BENCH_GPU_BLOCK_WORK_H_

#include <cstdint>

#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/gpu/hardware/warp_access.h"

namespace tilewright {

// Of all warps of the block.
struct BlockWork {
  // Multiply-adds of fp32, in instructions of a warp.
  double warp_fmas = 0;
  // Turns of the banks that accesses to shared memory take, and the least that
  // there could be.
  double shared_turns = 0, least_shared_turns = 0;
  // Sectors that accesses to memory touch, warp by warp.
  double sectors = 0;
  // Times that all threads wait for memory: stretches between barriers in which
  // something is used that was loaded from it. Waits: with no multiply-add
  // between load and use. Covered: with some.
  double waits = 0, covered_waits = 0;
};

// The first block's. An index that is not known (read from memory) touches as
// few sectors and banks as one can; so do vectors that lie at no multiple of
// their size, element by element. Both sides of a branch on something unknown
// count. REQUIRES: kernel.has_threads(), verified.
BlockWork CountBlockWork(const kernel_ir::ScalarKernel& kernel,
                         const Banks& banks, int64_t sector_bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_GPU_BLOCK_WORK_H_
