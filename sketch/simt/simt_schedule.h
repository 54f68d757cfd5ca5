// Schedules for GPUs without matrix units: every block of the grid computes a
// tile of the outputs, its threads one stage of the group after the other.
//
//   products       operands that several threads use pass through scratch, a
//                  step of the longest reduce axis at a time, which slices of
//                  the threads may share; sums stay in the registers of the
//                  thread that has the element, and go to scratch once, when
//                  they are done, if other threads read them
//   row reductions the lanes of a warp share the terms of an element, if the
//                  tile has fewer elements than the block has threads
//   elementwise    vectors along the last axis, neighbouring threads beside
//                  each other
//
// Maps that one other compute reads go into that. It asks, in this order: per
// axis of the output "block.tile.AXIS" and "block.threads.AXIS";
// "block.vector", "block.lanes", and if something is reduced "block.rows",
// neighbours along the axis before the last that a thread has, "block.step",
// "block.slices", "block.stages", "block.async" of several stages, and
// "block.swizzle"; then for each sum "block.unroll.COMPUTE", terms in a row
// that a thread's code writes out; for each operand that it stages in scratch
// "block.order.COMPUTE.OPERAND", whether its elements lie there in the tensor's
// rows or those of a thread side by side, of rows "block.pad.COMPUTE.OPERAND",
// elements that are left free behind each, and of the others
// "block.copy.COMPUTE.OPERAND", whether neighbouring threads copy neighbours of
// the tensor or of the copy; and of a sum that is no output
// "block.sums.COMPUTE", whether it grows in registers and is copied to where it
// is read, or grows there.
#ifndef TILEWRIGHT_SKETCH_SIMT_SIMT_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_SIMT_SIMT_SCHEDULE_H_

#include <optional>

#include "sketch/rules/generator.h"
#include "sketch/simt/block_tile.h"

namespace tilewright::sketch {

// The generator "simt". It prefers what was planned, or else DefaultBlockTile,
// and says in the schedule's tile plan what it has decided, of each compute how
// threads divide it too. InvalidArgument if the group's outputs have no common
// tiles, or a primitive is refused.
Generator SimtGenerator(std::optional<BlockTile> planned);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_SIMT_SCHEDULE_H_
