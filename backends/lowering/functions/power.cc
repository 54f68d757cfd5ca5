// pow(x, y) = 2^(y log2 |x|), with the sign of x where y is odd. The logarithm
// needs as many more digits than the result as its exponent has: f32 computes
// in f64, f64 in pairs of f64.
#include <limits>
#include <vector>

#include "backends/lowering/functions/compensated.h"
#include "backends/lowering/functions/functions.h"

namespace tilewright::lowering::functions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRound = 0x1.8p52;

struct Split {
  Value f;         // a = 2^exponent (1 + f), 1 + f within [2/3, 4/3)
  Value exponent;  // as f64
};
// REQUIRES: a is a normal f64, not negative; else the result is some number.
Split SplitExponent(Value a) {
  const Value bits = Bits(a);
  const Value exponent = ShiftRight(bits - int64_t{0x3fe5555555555555}, 52);
  return {FromBits(bits - ShiftLeft(exponent, 52)) - 1,
          FromBits(exponent + Bits(a.Like(kRound))) - kRound};
}

Value PowOfSingle(Value a, Value y) {
  // log2((1 + s) / (1 - s)) / s in s^2, 2^-42; 2^f, 2^-34
  static const std::vector<double> log2_series = {
      2.8853900817774281338, 0.96179669482025998502, 0.57707775678284149111,
      0.412226079223630524,  0.31928804308531437977, 0.29079808322891746494};
  static const std::vector<double> exp2_series = {
      0.99999999996168837291,    0.693147180728433718,
      0.24022651198170034259,    0.055504103534660010455,
      0.0096180272504812299644,  0.0013333922541673226134,
      0.00015469292228075805641, 0.000015201928657274308448};
  const Value base = Cast(DType::kFloat64, a);
  const Split split = SplitExponent(base);
  const Value s = split.f / (split.f + 2);
  Value log2 = MultiplyAdd(s, Polynomial(s * s, log2_series), split.exponent);
  log2 = Select(base < kInfinity, log2, base);
  log2 = Select(base == 0, base.Like(-kInfinity), log2);
  const Value power =
      Cast(DType::kFloat64, AtLeast(AtMost(y, 0x1p40), -0x1p40));
  const Value product = AtLeast(AtMost(power * log2, 200), -200);
  const Value sum = product + kRound;
  const Value result = Polynomial(product - (sum - kRound), exp2_series) *
                       FromBits(ShiftLeft(Bits(sum), 52) + 0x3ff0000000000000);
  return Cast(DType::kFloat32, result);
}

// log2 a to about 2^-64 of its value.
Pair Log2OfDouble(Value a) {
  // atanh(s) = s + s^3 (1/3 + z (1/5 + z/7 + ...)), z = s^2: what stands in the
  // brackets after 1/3
  static const std::vector<double> series = {
      0.19999999999999862248,  0.14285714285788691301,  0.11111111095619075431,
      0.090909107634233564932, 0.076922033032747629413, 0.066705729319099430307,
      0.057961672632979748023, 0.062857995326636262686};  // 2^-69
  const Value is_denormal = a < 0x1p-1022;
  const Split split = SplitExponent(Select(is_denormal, a * 0x1p54, a));
  const Pair divisor = FastTwoSum(a.Like(2), split.f);
  const Value high = split.f / divisor.high;
  const Pair product = TwoProduct(high, divisor.high);
  const Value rest =
      ((split.f - product.high) - product.low) - high * divisor.low;
  const Pair s = FastTwoSum(high, rest / divisor.high);
  const Pair z = Multiply(s, s);
  const Pair third{a.Like(0x1.5555555555555p-2), a.Like(0x1.5555555555555p-56)};
  const Pair bracket = Add(third, z.high * Polynomial(z.high, series));
  const Pair cubic = Multiply(z, bracket);
  const Pair atanh = Multiply(s, Add(cubic, a.Like(1)));
  const Pair two_over_ln2{a.Like(0x1.71547652b82fep1),
                          a.Like(0x1.777d0ffda0d24p-55)};
  const Pair log2 = Multiply(atanh, two_over_ln2);
  return Add(log2, split.exponent - Select(is_denormal, a.Like(54), a.Like(0)));
}

Value PowOfDouble(Value a, Value y) {
  const Value power = AtLeast(AtMost(y, 0x1p70), -0x1p70);
  const Pair log2 = Log2OfDouble(a);
  const Pair product = TwoProduct(power, log2.high);
  const Value high = AtLeast(AtMost(product.high, 1100), -1100);
  const Value low = MultiplyAdd(power, log2.low, product.low);
  const Value n = RoundEven(high);
  const Value r = (high - n) + Select(high == product.high, low, low.Like(0));
  const Value result = ExpOfMiddle(r * 0x1.62e42fefa39efp-1);
  // 2^n as two factors, of which the first is exact.
  const Value bits = Bits(n + kRound);
  const Value half = ShiftLeft(bits, 51) & -0x10000000000000;
  const Value rest = ShiftLeft(bits, 52) - half;
  const Value scaled = result * FromBits(half + 0x3ff0000000000000) *
                       FromBits(rest + 0x3ff0000000000000);
  // log2 of 0 and infinity is none of the above.
  const Value falls = (y < 0) ^ (a == 0);
  const Value limit =
      Select(y == y, Select(falls, a.Like(0), a.Like(kInfinity)), y);
  const Value finite = Select((a == 0) | (a == kInfinity), limit, scaled);
  return Select(a == a, finite, a);
}

}  // namespace

Value Pow(Value x, Value y) {
  const bool is_single = x.dtype() == DType::kFloat32;
  const Value a = Abs(x);
  Value result = is_single ? PowOfSingle(a, y) : PowOfDouble(a, y);
  const Value is_integer = Floor(y) == y;
  const Value half = y * 0.5;
  const Value is_odd = is_integer & Not(Floor(half) == half);
  const Value sign = Bits(x) & (is_single ? int64_t{INT32_MIN} : INT64_MIN);
  result = FromBits(Bits(result) ^ Select(is_odd, sign, sign.Like(0)));
  const Value no_real = (x < 0) & (x.Like(-kInfinity) < x) & Not(is_integer);
  result =
      Select(no_real, x.Like(std::numeric_limits<double>::quiet_NaN()), result);
  return Select((y == 0) | (x == 1), x.Like(1), result);
}

}  // namespace tilewright::lowering::functions
