// All that Legalize must know of a machine with vector registers, and its
// report about a kernel.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_VECTOR_TARGET_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_VECTOR_TARGET_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::lowering {

struct VectorTarget {
  int vector_bytes = 64;  // 64: AVX-512, 32: AVX2, 16: SSE
  int registers = 32;     // architectural vector registers, for the report
  int max_unrolled_vectors = 64;  // larger boxes are looped over
  // The same limit for operations that keep nothing in registers: enough to
  // overlap, small code.
  int max_unrolled_memory_vectors = 16;
  // Buffers of more bytes than this are prefetched: while a task reads its
  // share, it brings the next one closer. 0: none.
  int64_t prefetch_above_bytes = 0;
  bool fma = true;
  bool permutes_bytes = false;  // reads tables of 256 bytes at bytes
  int unroll_reduce =
      4;  // unroll hint for serial loops directly around an update
  // Names of tilegraph/ir/intrinsics.h that the target has; operations that ask
  // for another are written as what it means.
  std::vector<std::string> intrinsics;
};

struct LegalizeReport {
  std::vector<std::string> demoted;
  int max_live_accumulators = 0;
  int gathers = 0;          // lane-by-lane loads emitted
  int gathers_at_once = 0;  // of those, for one tile operation
  int dots = 0;             // vectors of sums that an intrinsic updates
  // Loops around updates, by name -> copies of the body in a row (the most of
  // all pieces that tails cut them into), asked for or not.
  std::map<std::string, int> unrolled;
  int prefetches = 0;       // lines that steps of updates bring closer
  int copies_ahead = 0;     // into scratch, that threads load a step ahead
  int lane_reductions = 0;  // reductions of vectors over their lanes, as trees:
                            // the one place where terms change their order
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_VECTOR_TARGET_H_
