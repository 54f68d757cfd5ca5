// From the tile tier to the scalar tier, for machines whose threads have vector
// registers: the shared default of every backend's Legalize. The four hooks of
// the tile-graph paper are its branches: Allocate (registers or scratch),
// LoadTiles and StoreTiles (kMap whose body is one load), ComputeTile (the
// rest).
//
// A tile operation becomes rows × vectors: one box axis, the one along which
// the destination is contiguous, is cut into vectors (the last one partly
// active); the other axes are unrolled while the tile fits
// `max_unrolled_vectors`, else looped over. Within one step equal loads and
// equal index arithmetic are emitted once: a load that does not depend on the
// vector axis is a broadcast, shared by all vectors of its row; one that is
// contiguous along it is a vector load, shared by all rows. This is what makes
// batch-reduce, direct convolution, depthwise, pooling and epilogues one code
// path.
//
// Data that is contiguous along another axis of the box, or has a stride, or is
// reversed or repeated in a constant pattern, moves as whole vectors of memory
// that are shuffled into place (block_access.h): transpositions, interleaved
// channels, pixel shuffles, strided convolutions. What is left (indices that
// are data, single elements a line apart) is gathered lane by lane, which
// `Report::gathers` counts. A buffer at level registers becomes one variable
// per vector, provided all its accesses have constant indices once boxes are
// unrolled; otherwise it is demoted to scratch, and `Report::demoted` names it.
// sum of products in float becomes FMA. Guarded loads (select(in bounds, load,
// c)) become masked loads. A loop that only joins the lanes of register vectors
// becomes a tree of shuffles (lane_reduction.h).
//
// A kernel whose loops threads share becomes one with threads: each runs its
// iterations, tile operations are cut into vectors within them, and barriers
// stand where nests conflict (threads/thread_plan.h, threads/place_barriers.h).
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_LEGALIZE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_LEGALIZE_H_

#include "absl/status/statusor.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
    const kernel_ir::Kernel& kernel, const VectorTarget& target,
    LegalizeReport* report = nullptr);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_LEGALIZE_H_
