// The threads of a block over the tile of one compute: the tile of the register
// level (Welder section 4.1; its code assigns prime factors greedily, here all
// ways to divide the threads are compared).
//
// Element i of a dimension belongs to thread (i / w) mod threads, w being the
// vector along the last dimension and 1 elsewhere: neighbouring lanes take
// neighbours (what TVM's virtual threads do), so that accesses are coalesced
// and meet few bank conflicts.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_THREAD_TILE_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_THREAD_TILE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tilewright {

// A compute as its threads see it.
struct ThreadWork {
  std::vector<int64_t> extents;  // of its tile
  int64_t terms = 1;             // of a reduction, of one step
  int64_t element_bytes = 4;     // of what it gives
  // By load: which dimensions of the tile move it (bit d); a load that none
  // moves is free.
  std::vector<uint32_t> loads;
  int64_t sector_bytes = 32;  // that a store takes at least
};

struct ThreadTile {
  std::vector<int64_t> threads;   // along each dimension
  std::vector<int64_t> elements;  // of each thread, at most
  int64_t reduce_threads = 1;     // lanes that share the terms of an element
  int64_t slices = 1;  // of the terms, each with as many threads as these
  int64_t vector = 1;  // neighbours along the last dimension stored at once

  int64_t elements_per_thread() const;
  // Terms that the busiest thread computes.
  int64_t serial(const ThreadWork& work) const;
  // Elements of operands that it loads for them.
  int64_t loads(const ThreadWork& work) const;
};

// Where the first element of `thread`, of one slice, lies in the tile; reduce
// threads are the fastest, then the last dimension. Empty if the thread has
// none.
std::vector<int64_t> FirstElement(const ThreadTile& tile,
                                  absl::Span<const int64_t> extents,
                                  int64_t thread);

// The fewest serial terms, then operand loads, then sectors that a
// warp stores to; threads share terms only where there are more threads than
// elements, and at most a warp does. Vectors of up to 16 bytes, one slice.
// REQUIRES: `threads` is a multiple of `warp_size`.
ThreadTile BestThreadTile(const ThreadWork& work, int64_t threads,
                          int64_t warp_size);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_THREAD_TILE_H_
