#include "tilegraph/expr/integer_op.h"

namespace tilewright {

int64_t IntegerPower(bool is_unsigned, int64_t base, int64_t exponent) {
  if (!is_unsigned && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

}  // namespace tilewright
