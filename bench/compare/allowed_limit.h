// The largest error that a model may have where --allow= permits less exact
// kernels.
#ifndef TILEWRIGHT_BENCH_COMPARE_ALLOWED_LIMIT_H_
#define TILEWRIGHT_BENCH_COMPARE_ALLOWED_LIMIT_H_

#include <string>
#include <vector>

namespace tilewright::bench {

// How many times the limit of fp32 kernels the error may be: as the bounds of
// single kernels grow (design: numerics.md), by 16 for Winograd F(4, 3) and by
// 2^15 for products of bf16, whose unit roundoff is 2^-9 and not 2^-24.
// `allow` as in CompileOptions.
double AllowedFactor(const std::vector<std::string>& allow);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COMPARE_ALLOWED_LIMIT_H_
