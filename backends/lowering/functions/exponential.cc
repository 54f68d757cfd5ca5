// exp, and sigmoid and tanh by way of it.
//
// e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2. n comes from
// adding 1.5 * 2^p, p the mantissa bits: the sum is rounded to an integer that
// stands in its low bits, where shifts move it into the exponent of a factor. n
// ln 2 is subtracted in two parts, the first short enough for an exact product.
// Where tables are read in one instruction, n is a multiple of 1/16, whose 2^n
// is looked up but for a power of two, and r so small that degree 3 is enough.
#include <vector>

#include "backends/lowering/functions/functions.h"

namespace tilewright::lowering::functions {
namespace {

struct Format {
  int mantissa_bits;
  double round;      // 1.5 * 2^mantissa_bits
  int64_t one;       // bits of 1.0
  int64_t exponent;  // bits of the sign and the exponent
  double ln2_high, ln2_low;
  double largest, smallest;    // arguments beyond which e^x is infinite, or 0
  std::vector<double> series;  // (e^r - 1 - r) / r^2
};

const Format& FormatOf(DType dtype) {
  static const Format single{23,
                             0x1.8p23,
                             0x3f800000,
                             -0x800000,
                             0x1.62ep-1,
                             0x1.0bfbe8p-15,
                             89,
                             -104,
                             {0.499999934122, 0.166665201072, 0.04166839429,
                              0.00836878048233, 0.00138144626367}};  // 2^-28.3
  static const Format twice{
      52,
      0x1.8p52,
      0x3ff0000000000000,
      -0x10000000000000,
      0x1.62e42fefa2p-1,
      0x1.9ef35793c7673p-41,
      710,
      -746,
      {0.50000000000000000435, 0.16666666666666683433, 0.041666666666666098211,
       0.0083333333333170271684, 0.0013888888889114342375,
       0.00019841269896397424235, 0.000024801586928580622743,
       2.7557234850665473519e-6, 2.755758046226297942e-7,
       2.5112040250160641811e-8, 2.0827001561116421419e-9}};  // 2^-64
  return dtype == DType::kFloat32 ? single : twice;
}

struct Reduced {
  Value n, r;
  Value sum;  // n + round, which has n's last digits in its low bits
};
Reduced Reduce(const Format& f, double round, Value x) {
  const Value sum = MultiplyAdd(x, 0x1.71547652b82fep0, round);
  const Value n = sum - round;
  const Value r = MultiplyAdd(n, -f.ln2_high, x);
  return {n, MultiplyAdd(n, -f.ln2_low, r), sum};
}

// What is looked up is most of the result, and rounded: a factor of e^s, which
// the polynomial takes back, brings all 16 numbers within 0.21 ULP of floats.
Value ExpByCells(const Format& f, Value x) {
  constexpr double kRoundToSixteenths = 0x1.8p19;
  // 2^(i/16) e^s and e^(r - s) - 1 with s = 0.00626055151
  static const std::vector<float> powers = {
      1.00628018f, 1.05083203f, 1.09735632f, 1.14594042f,
      1.19667554f, 1.24965692f, 1.30498397f, 1.36276054f,
      1.42309511f, 1.48610091f, 1.55189621f, 1.62060452f,
      1.6923548f,  1.76728177f, 1.84552598f, 1.92723441f};
  static const std::vector<double> rest = {-0.00624099623373, 0.993759007419,
                                           0.496898948931,
                                           0.165622611443};  // 2^-29.7
  const Reduced e = Reduce(f, kRoundToSixteenths, x);
  const Value power = Lookup(e.sum, powers);
  return Scale(MultiplyAdd(power, Polynomial(e.r, rest), power), e.n);
}

struct Parts {
  Value power;  // e^r
  Value n;
  Value bits;  // n in the low bits
};
Parts Split(const Format& f, Value x) {
  const Reduced e = Reduce(f, f.round, x);
  std::vector<double> coefficients = {1, 1};
  coefficients.insert(coefficients.end(), f.series.begin(), f.series.end());
  return {Polynomial(e.r, coefficients), e.n, Bits(e.sum)};
}

bool ByCells(Value x) {
  return x.dtype() == DType::kFloat32 && x.emitter->scale() &&
         x.emitter->lookup();
}

// For x within [smallest, largest], or NaN; else any number. 2^n may be no
// normal number: it is applied as two factors, of which the first is exact.
Value ExpOfClamped(const Format& f, Value x) {
  if (ByCells(x)) return ExpByCells(f, x);
  const Parts e = Split(f, x);
  if (x.emitter->scale()) return Scale(e.power, e.n);
  const Value half = ShiftLeft(e.bits, f.mantissa_bits - 1) & f.exponent;
  const Value rest = ShiftLeft(e.bits, f.mantissa_bits) - half;
  return e.power * FromBits(half + f.one) * FromBits(rest + f.one);
}

// For x up to `largest`, or NaN. A product that rounds to 0 costs a core of
// Intel's a hundred cycles, and masks make such in every row of an attention:
// below `smallest` none is formed. A scale that a selection discards takes no
// time, as both become one masked instruction.
Value ExpUpToLargest(const Format& f, Value x) {
  const Value is_zero = x < f.smallest, zero = x.Like(0);
  if (x.emitter->scale()) return Select(is_zero, zero, ExpOfClamped(f, x));
  return Select(is_zero, zero, ExpOfClamped(f, Select(is_zero, zero, x)));
}

}  // namespace

Value Exp(Value x) {
  const Format& f = FormatOf(x.dtype());
  return ExpUpToLargest(f, AtMost(x, f.largest));
}

Value ExpOfMiddle(Value x) {
  const Format& f = FormatOf(x.dtype());
  if (x.emitter->scale()) return ExpOfClamped(f, x);
  const Parts e = Split(f, x);
  return e.power * FromBits(ShiftLeft(e.bits, f.mantissa_bits) + f.one);
}

// With e = e^-|x| and q = e / (-1 - e): 1 + q, or for negative x e + e q.
// Nothing overflows, and where the result is small so is q.
Value Sigmoid(Value x) {
  const Format& f = FormatOf(x.dtype());
  const Value e = ExpUpToLargest(f, NegativeAbs(x));
  const Value quotient = e / (x.Like(-1) - e);
  const Value base = Select(x < 0, e, x.Like(1));
  return MultiplyAdd(base, quotient, base);
}

// A series below 0.625, where 1 - 2 / (e^2|x| + 1) would cancel.
Value Tanh(Value x) {
  // (tanh(a) / a - 1) / a^2 in a^2
  static const std::vector<double> single = {-0.333332819427, 0.133314422204,
                                             -0.053739717166, 0.02063909426,
                                             -0.00570499472291};
  static const std::vector<double> twice = {
      -0.33333333333333312818,     0.1333333333332974318,
      -0.053968253966059042683,    0.021869488468718126297,
      -0.008863234312611421797,    0.0035921140001375505474,
      -0.0014557259494982827223,   0.00058945180436583662448,
      -0.0002370117440501458419,   0.000091558434727382793082,
      -0.000030187242495968508302, 6.0424775976313548542e-6};
  const bool is_single = x.dtype() == DType::kFloat32;
  const Value a = Abs(x);
  const Value square = a * a;
  const Value series = MultiplyAdd(
      a * square, Polynomial(square, is_single ? single : twice), a);
  const Value bounded = AtMost(a, is_single ? 10 : 20);
  const Value e = ExpOfMiddle(bounded + bounded);
  const Value quotient = x.Like(1) - x.Like(2) / (e + 1);
  return FlipSign(Select(a < 0.625, series, quotient), x);
}

}  // namespace tilewright::lowering::functions
