// The primitives that schedules are made of: what each takes, and what it does
// to the block tree.
#ifndef TILEWRIGHT_SKETCH_TRACE_PRIMITIVE_H_
#define TILEWRIGHT_SKETCH_TRACE_PRIMITIVE_H_

#include <cstdint>
#include <string_view>

namespace tilewright::sketch {

// Handles that it takes; its factors; its text -> handles of its results.
enum class Primitive : uint8_t {
  // text: tensor name -> block
  kBlock,
  // block; text: axis name -> the innermost loop over that axis
  kLoop,
  // output blocks (of one shape); per axis, factors [tasks, elements of a task]
  // -> one task loop per axis
  kGroupTile,
  // loop; its factors -> the parts, outermost first
  kSplit,
  // neighbouring loops, outermost first, all or none reducing -> loop
  kFuse,
  // loops of one nest, in their new order
  kReorder,
  // loop; text: "serial", "unroll", "tile"; or what lowering would decide
  // itself: "unroll=4" (copies in a row), "prefetch=2" (steps ahead of the
  // update or map in memory inside, 0: none), "stages=2" (each step's copies
  // into scratch are loaded a step ahead); or block of an output;
  // "stream=yes", "stream=no"; or block of a copy in scratch;
  // "swizzle=4,8,1" (tilegraph/ir/row_swizzle.h)
  kAnnotate,
  // block, loop: computed there, as much as its consumers below the loop need;
  // consumers before producers
  kComputeAt,
  // block, loop of its producer: consumed there
  kReverseComputeAt,
  // block: its body goes into its consumers
  kComputeInline,
  // block: an elementwise consumer goes into its producer (of a reduction: into
  // the copy that cache_write made)
  kReverseComputeInline,
  // block, loop; text: "tensor level" -> block of the copy
  kCacheRead,
  // block; text: level -> block of the copy out
  kCacheWrite,
  // text: "tensor layout", for constants and local buffers, or "tensor order
  // 0,2,1": dimensions, outermost first; copies are named A.local, accumulators
  // T.acc
  kSetLayout,
  // block; text: "registers" or "scratch": where its local result lives
  kSetLevel,
  // block, loop; text: intrinsic: the loops from there inwards become the tile
  // of that intrinsic
  kTensorize,
  // reduction, one of its reduce loops -> block of the partial results, T.rf:
  // one per step of that loop, which is its last spatial axis, named as the
  // loop is; the reduce loops it was split with become reduce axes. The
  // reduction itself then stands right after its outermost reduce loop, in
  // loops over what ran inside that, and reduces the partial results over an
  // axis of that name
  kRFactor,
  // sum -> block of the sums, T.sum, without the factors that are the same in
  // all steps: the tensor's own block becomes a map that multiplies by those
  kFactorOut,
  // reduction, serial loop that reduces another one block by block; factors
  // [blocks, steps of a block] of its first axis -> block of a block's
  // result, T.rf. It is reduced in that loop before what reads it
  // there; sums of the loop that read it are rescaled when it changes
  // (online_reduction.h). Readers first; what it reads is placed later
  kRollingUpdate,
  // block, serial loop that it was computed at: an iteration computes what the
  // one before has not, and the block's buffers keep the rest (one axis moves
  // with the loop, by less than the region's extent)
  kRolling,
  // block of a convolution marked for it; factors [m], before all but `block`:
  // the tree begins anew with the convolution as F(m, 3), in blocks T.input,
  // T.products and T (tilegraph/rewrite/winograd.h)
  kWinograd,
  // sum; text: "tensor 2,3": steps that multiply by what is known to be a zero
  // of the tensor, by its index along these dimensions, combine nothing
  kSkipZeros,
  // loop; text: "thread", "warp" or "lane": the threads of a block share its
  // iterations (tree/thread_loops.h); "vthread": each thread runs all of them,
  // side by side
  kBind,
};

// "group_tile", "compute_at", ...: the names of the text form and of the
// protos.
std::string_view Name(Primitive primitive);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_PRIMITIVE_H_
