// Sums and products with their rounding errors, for results that need more
// digits than their dtype has. The classical error-free transformations (Dekker
// 1971, Knuth); exact unless something overflows.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_COMPENSATED_H_
#define TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_COMPENSATED_H_

#include "backends/lowering/functions/value.h"

namespace tilewright::lowering::functions {

struct Pair {  // high + low, |low| far below |high|
  Value high, low;
};

inline Pair TwoSum(Value a, Value b) {
  const Value sum = a + b;
  const Value b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// REQUIRES: |a| >= |b|, or a is 0.
inline Pair FastTwoSum(Value a, Value b) {
  const Value sum = a + b;
  return {sum, b - (sum - a)};
}

// f64 only where the target has no fused multiply-add.
inline Pair TwoProduct(Value a, Value b) {
  const Value product = a * b;
  if (a.emitter->fma())
    return {product, MultiplyAdd(a, b, product.Like(0) - product)};
  const auto split = [](Value v) {
    const Value scaled = v * 134217729.0;  // 2^27 + 1
    const Value high = scaled - (scaled - v);
    return Pair{high, v - high};
  };
  const Pair x = split(a);
  const Pair y = split(b);
  return {product,
          ((x.high * y.high - product) + x.high * y.low + x.low * y.high) +
              x.low * y.low};
}

inline Pair Add(Pair a, Value b) {
  const Pair sum = TwoSum(a.high, b);
  return FastTwoSum(sum.high, sum.low + a.low);
}

inline Pair Multiply(Pair a, Pair b) {
  const Pair product = TwoProduct(a.high, b.high);
  return FastTwoSum(product.high,
                    product.low + (a.high * b.low + a.low * b.high));
}

}  // namespace tilewright::lowering::functions

#endif  // TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_COMPENSATED_H_
