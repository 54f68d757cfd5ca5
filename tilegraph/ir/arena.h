// Best-fit placement of buffers with known lifetimes in one arena.
#ifndef TILEWRIGHT_TILEGRAPH_IR_ARENA_H_
#define TILEWRIGHT_TILEGRAPH_IR_ARENA_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tilewright {

// Needed from step `first` to step `last`, both included.
struct BufferLifetime {
  int64_t size_bytes;
  int first;
  int last;
};

struct BufferPlacement {
  std::vector<int64_t>
      offset_bytes;  // by buffer; multiples of `alignment_bytes`
  int64_t arena_bytes = 0;
};

// The most bytes alive at one step: no arena is smaller.
int64_t LeastArenaBytes(absl::Span<const BufferLifetime> buffers);

// Buffers alive at the same step never overlap. Larger buffers are placed
// first, each into the smallest gap that holds it. Deterministic.
BufferPlacement PlaceBuffers(absl::Span<const BufferLifetime> buffers,
                             int64_t alignment_bytes = 64);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_ARENA_H_
