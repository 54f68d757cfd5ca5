// Ansor's rules for GPUs, in their order (TVM 0.18, auto_scheduler,
// sketch_policy.cc). A group is one grid of blocks: its output's tiles are the
// blocks, and everything else is computed inside them.
//
//   inline            AlwaysInline: whatever reduces nothing
//   unroll-constants  SimplifyComputeWithConstTensor: the axes of constant
//                     matrices unrolled in each thread
//   cross-thread      CrossThreadReduction: lanes of a warp share the steps
//   cache-write       AddCacheWrite, and the tiles that always follow it:
//                     SSSRRSRS, sums in registers, copied out by their thread
//   tile-fused        MultiLevelTilingWithFusion: the same, with the
//                     elementwise reader as the copy
//   skip              SkipStage: elements divided among the threads
//
// AddCacheRead and SpecialComputeLocation are no choices: tiles bring what
// threads use again into scratch, at every outer step; and what a block needs
// is computed inside it.
//
// Decisions of a block of code "T", beside those of derivation.h:
//
//   T.block.m    of the output: tasks, and elements of a block of threads
//   T.threads    at most so many work on it
//   T.vector     neighbours that one thread moves together
//   T.lanes      that share the steps of an element (cross-thread)
//   T.tile.m     block, virtual thread, thread, and two parts of a thread's
//                elements; of a reduce axis three parts
//   T.unroll     steps that are written out at most in a thread's loops
//
// A copy into scratch is a block of code too and asks for threads and vector.
#ifndef TILEWRIGHT_SKETCH_DERIVATION_GPU_SKETCH_RULES_H_
#define TILEWRIGHT_SKETCH_DERIVATION_GPU_SKETCH_RULES_H_

#include "sketch/derivation/sketch_rules.h"

namespace tilewright::sketch {

// For the generator of sketches (sketch_generator.h), with the spec of a device
// whose blocks have threads; sketches are as many as TVM's for CUDA. Refused
// are groups of several outputs, more than 1,024 threads, more than 256
// elements a thread, and what does not fit into scratch.
SketchRules TvmGpuRules();

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_GPU_SKETCH_RULES_H_
