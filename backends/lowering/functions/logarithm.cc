// log x = n ln 2 + log(1 + f), 1 + f within [2/3, 4/3): near x = 1 n is 0 and
// nothing cancels.
#include <limits>
#include <vector>

#include "backends/lowering/functions/functions.h"

namespace tilewright::lowering::functions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// (log(1 + f) - f + f^2 / 2) / f^3
Value SeriesSingle(Value f, Value addend) {
  static const std::vector<double> c = {
      0.333333357405,  -0.249998202874, 0.199995980843,
      -0.166795774831, 0.143044482799,  -0.121957883959,
      0.107543184247,  -0.128450224546, 0.120068721935};  // 2^-30
  const Value rest = MultiplyAdd(f, Polynomial(f, c), -0.5);
  return f + MultiplyAdd(f * f, rest, addend);
}

// log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)) with s = f / (2 +
// f); R(z) = z (2/3 + 2/5 z + ...).
Value SeriesDouble(Value f, Value addend) {
  static const std::vector<double> c = {
      0.66666666666666597694, 0.40000000000055710874, 0.28571428556057431916,
      0.22222224271037015682, 0.18181667372050298648, 0.15391063881898845932,
      0.13174395291900344612, 0.13837723292015201285};
  const Value s = f / (f + 2);
  const Value z = s * s;
  const Value half_square = f * f * 0.5;
  const Value rest =
      MultiplyAdd(s, MultiplyAdd(z, Polynomial(z, c), half_square), addend);
  return f - (half_square - rest);
}

}  // namespace

Value Log(Value x) {
  const bool is_single = x.dtype() == DType::kFloat32;
  const int mantissa_bits = is_single ? 23 : 52;
  const Value is_denormal = x < (is_single ? 0x1p-126 : 0x1p-1022);
  const Value normal =
      Select(is_denormal, x * (is_single ? 0x1p23 : 0x1p52), x);
  const Value bits = Bits(normal);
  const int64_t two_thirds = is_single ? 0x3f2aaaab : 0x3fe5555555555555;
  const Value exponent = ShiftRight(bits - two_thirds, mantissa_bits);
  const Value f = FromBits(bits - ShiftLeft(exponent, mantissa_bits)) - 1;
  // i64 -> f64 is no instruction before AVX-512; this sum is, everywhere.
  Value n = is_single ? Cast(DType::kFloat32, exponent)
                      : FromBits(exponent + Bits(x.Like(0x1.8p52))) - 0x1.8p52;
  n = n - Select(is_denormal, x.Like(mantissa_bits), x.Like(0));
  const Value low = n * (is_single ? 0x1.0bfbe8p-15 : 0x1.9ef35793c7673p-41);
  const Value series = is_single ? SeriesSingle(f, low) : SeriesDouble(f, low);
  const Value result =
      MultiplyAdd(n, is_single ? 0x1.62ep-1 : 0x1.62e42fefa2p-1, series);

  const Value negative =
      Select(x < 0, x.Like(std::numeric_limits<double>::quiet_NaN()), x);
  const Value special = Select(x == 0, x.Like(-kInfinity), negative);
  return Select((x.Like(0) < x) & (x < kInfinity), result, special);
}

}  // namespace tilewright::lowering::functions
