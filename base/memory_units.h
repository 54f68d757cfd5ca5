// The units in which the memory of the CPUs we compile for moves.
#ifndef TILEWRIGHT_BASE_MEMORY_UNITS_H_
#define TILEWRIGHT_BASE_MEMORY_UNITS_H_

#include <cstdint>

namespace tilewright {

// What a cache fetches at once.
inline constexpr int64_t kLineBytes = 64;
// The hardware's prefetchers follow no stream beyond its page.
inline constexpr int64_t kPageBytes = 4096;

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_MEMORY_UNITS_H_
