// Argument bytes that provoke mistakes.
#ifndef TILEWRIGHT_BACKENDS_CTS_VALUES_H_
#define TILEWRIGHT_BACKENDS_CTS_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::cts {

// Every dtype a buffer may have.
const std::vector<DType>& AllDTypes();
// Those without fp16 and bf16: what registers may be.
const std::vector<DType>& RegisterDTypes();

// Zeros, ones, extremes, values around rounding and conversion limits, NaN,
// infinities, denormals: whatever the dtype has.
std::vector<Scalar> SpecialValues(DType dtype);
// Any bit pattern of the dtype, with ordinary magnitudes half of the time.
Scalar RandomValue(DType dtype, Random& random);

// Elements as they lie in memory.
std::string Bytes(DType dtype, const std::vector<Scalar>& values);
// `count` values: specials first, then random ones.
std::string SomeBytes(DType dtype, int64_t count, Random& random);
// Two (or more) columns whose rows hold all pairs of special values, then
// random ones, `count` rows.
std::vector<std::string> PairBytes(DType dtype, int64_t count, Random& random);
// The bytes that outputs hold at first.
std::string Pattern(int64_t size_bytes);

}  // namespace tilewright::cts

#endif  // TILEWRIGHT_BACKENDS_CTS_VALUES_H_
