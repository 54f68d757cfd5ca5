// The cost of one access of a warp to the memory: sectors that move, and turns
// that the banks of a scratchpad take.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_WARP_ACCESS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_WARP_ACCESS_H_

#include <cstdint>
#include <vector>

namespace tilewright {

struct WarpAccess {
  static constexpr int64_t kIdle = -1;
  std::vector<int64_t> offset_bytes;  // by lane; kIdle: it takes no part
  int64_t bytes = 4;                  // of each lane, side by side
};

// Sectors of memory that are touched: what moves is their number times
// `sector_bytes` (CUDA C++ Best Practices Guide, coalesced access). REQUIRES:
// the first sector begins at offset 0 or a multiple.
int64_t Sectors(const WarpAccess& access, int64_t sector_bytes);

struct Banks {
  int64_t count = 32;
  int64_t width_bytes = 4;
};

// Turns in which a scratchpad serves the access. Word w lies in bank w mod
// count; in a turn each bank gives one word, to all lanes that want it. Lanes
// come in groups whose data fill all banks once: 32 lanes of up to 4 bytes, 16
// of 8, 8 of 16 (source: CUDA C++ Programming Guide, shared memory; ldmatrix
// reads rows of 16 bytes in groups of 8 lanes).
int64_t BankPasses(const WarpAccess& access, const Banks& banks);

// Without any conflict: the groups that have a lane that takes part.
int64_t LeastBankPasses(const WarpAccess& access, const Banks& banks);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_WARP_ACCESS_H_
