// How many parts of a size cover an extent.
#ifndef TILEWRIGHT_BASE_CEIL_DIV_H_
#define TILEWRIGHT_BASE_CEIL_DIV_H_

#include <cstdint>

namespace tilewright {

// REQUIRES: a >= 0, b > 0.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_CEIL_DIV_H_
