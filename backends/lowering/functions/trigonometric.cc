// sin and cos: |x| = n pi/2 + r with |r| <= pi/4, then a series of r chosen by
// n mod 4.
//
// Up to a bound n pi/2 is subtracted in parts, the first ones exactly. Beyond
// it, in a branch that runs only if a lane needs it, the fraction of |x| 2/pi
// is taken from products of |x| with pieces of 2/pi, each exact and reduced
// modulo 4 before it is added.
#include <array>
#include <cmath>
#include <vector>

#include "backends/lowering/functions/compensated.h"
#include "backends/lowering/functions/functions.h"

namespace tilewright::lowering::functions {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p0;

struct Turn {
  Value n;  // quarter turns, as a float; exact modulo 4
  Value r;  // the rest, in radians
};

Value ModuloFour(Value p) { return p - RoundEven(p * 0.25) * 4.0; }

// Moves whole quarters from the fraction to n.
void Carry(Value& n, Value& fraction) {
  const Value whole = RoundEven(fraction);
  fraction = fraction - whole;
  n = n + whole;
}

// 24-bit |x| times 28-bit pieces of 2/pi: 196 bits, enough for 2^128 and 2^-68.
Turn ReduceAnySingle(Value a) {
  static constexpr std::array<double, 7> kPieces = {
      170891318, 240010261, 44024437, 131200308, 232525238, 43358524, 70845471};
  const Value x = Cast(DType::kFloat64, a);
  Value n = x.Like(0);
  Value fraction = x.Like(0);
  double unit = 1;
  for (double piece : kPieces) {
    unit *= 0x1p-28;
    fraction = fraction + ModuloFour(x * (piece * unit));
    Carry(n, fraction);
  }
  return {Cast(DType::kFloat32, n), Cast(DType::kFloat32, fraction * kHalfPi)};
}

// 2/pi in pieces of 26 bits.
constexpr int kPieceBits = 26;
constexpr std::array<double, 46> kTwoOverPi = {
    42722829, 48555073, 21659401, 56087029, 13858563, 28715353, 38736100,
    4324945,  26128250, 62674459, 29957006, 37899730, 58726692, 49193117,
    6588223,  35515164, 46442140, 65964067, 24988590, 54822121, 41009306,
    54917092, 5137525,  37323603, 15192690, 4585659,  58608142, 52426903,
    67074070, 25231090, 63202006, 34237727, 28629499, 15891632, 40752081,
    37709470, 25143477, 55737260, 33225084, 24853767, 15195689, 19476134,
    50255852, 18845021, 2185228,  50622407};

// The `count` pieces from number `first` (in each lane another, 0 to 63) on:
// halving steps, each of which shifts or does not.
std::vector<Value> PiecesFrom(Value first, Value like, int count) {
  std::vector<Value> pieces;
  for (double piece : kTwoOverPi) pieces.push_back(like.Like(piece));
  for (int step = 32; step >= 1; step /= 2) {
    const Value shifts = (first & step) == step;
    const size_t needed = static_cast<size_t>(count + step - 1);
    std::vector<Value> next;
    for (size_t i = 0; i < needed && i < pieces.size(); ++i) {
      next.push_back(i + step < pieces.size()
                         ? Select(shifts, pieces[i + step], pieces[i])
                         : pieces[i]);
    }
    pieces = std::move(next);
  }
  return pieces;
}

// 53-bit |x| of at least 2^20, in halves, times 8 pieces: those before them
// give multiples of 4, those after less than 2^-120.
Turn ReduceAnyDouble(Value a) {
  const Value bits = Bits(a);
  const Value lowest_bit =
      ShiftRight(bits, 52) - 1075;  // |x| is an integer times 2^this
  Value first =
      ShiftRight((lowest_bit - 2) * 2521, 16);  // / 26, exact below 2^11
  first = Select(first < 0, first.Like(0), first);
  const std::vector<Value> pieces = PiecesFrom(first, a, 8);
  const Value scaled = FromBits(bits - ShiftLeft(first * kPieceBits, 52));
  const Value high = FromBits(Bits(scaled) & ~int64_t{0x7ffffff});
  const Value low = scaled - high;
  Value n = a.Like(0);
  Value fraction = a.Like(0);
  Value error = a.Like(0);
  double unit = 1;
  for (const Value& integer : pieces) {
    unit *= std::ldexp(1.0, -kPieceBits);
    const Value piece = integer * unit;
    for (const Value& half : {high, low}) {
      const Pair sum = TwoSum(fraction, ModuloFour(half * piece));
      fraction = sum.high;
      error = error + sum.low;
    }
    Carry(n, fraction);
  }
  return {n, (fraction + error) * kHalfPi +
                 (a - a)};  // a - a: NaN for infinities and NaN
}

struct Parts {
  double bound;                 // of |x| for this way
  std::vector<double> half_pi;  // all but the last short enough for exact
                                // products with n below the bound
};
const Parts& PartsFor(bool is_single, bool fma) {
  static const Parts fused{32768,
                           {0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50}};
  static const Parts single{
      6400, {0x1.92p0, 0x1.fb4p-12, 0x1.444p-24, 0x1.68cp-39, 0x1.1a6264p-54}};
  static const Parts twice{
      0x1p20, {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}};
  return !is_single ? twice : fma ? fused : single;
}

// sin(x + quarters pi/2)
Value SinOfTurned(Value x, int quarters, Value sign) {
  const bool is_single = x.dtype() == DType::kFloat32;
  const double round = is_single ? 0x1.8p23 : 0x1.8p52;
  const Parts& parts = PartsFor(is_single, x.emitter->fma());
  const Value a = Abs(x);
  const Value n0 = MultiplyAdd(a, 0x1.45f306dc9c883p-1, round) - round;
  Value r0 = a;
  for (double part : parts.half_pi) r0 = MultiplyAdd(n0, -part, r0);
  const Value n = Variable(n0);
  const Value r = Variable(r0);
  const Value is_large = Not(a < parts.bound);
  IfAny(is_large, [&] {
    const Turn turn = is_single ? ReduceAnySingle(a) : ReduceAnyDouble(a);
    Assign(n, Select(is_large, turn.n, n0));
    Assign(r, Select(is_large, turn.r, r0));
  });

  // (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2 / 2) / r^4, in r^2
  static const std::vector<double> sin_single = {
      -0.166666545368, 0.0083321560544, -0.000195146314924};  // 2^-28
  static const std::vector<double> cos_single = {
      0.0416666455595, -0.0013887310135, 2.44324423547e-5};  // 2^-33
  static const std::vector<double> sin_double = {
      -0.1666666666666666664,     0.0083333333333333223723,
      -0.00019841269841254645775, 2.7557319213984022018e-6,
      -2.5052104860514452391e-8,  1.6058360410139242222e-10,
      -7.5784019313286107795e-13};
  static const std::vector<double> cos_double = {
      0.041666666666666666608,    -0.0013888888888888872801,
      0.000024801587301570383623, -2.7557319214927499171e-7,
      2.0876754270812423417e-9,   -1.1470282996435160464e-11,
      4.7376673703219912275e-14};
  const Value quarter = Bits(n + round) + quarters;
  const Value square = r * r;
  const Value sin = MultiplyAdd(
      r * square, Polynomial(square, is_single ? sin_single : sin_double), r);
  const Value half = square * 0.5;
  const Value most = half.Like(1) - half;
  const Value lost = (most.Like(1) - most) - half;
  const Value cos =
      most + MultiplyAdd(
                 square * square,
                 Polynomial(square, is_single ? cos_single : cos_double), lost);
  const Value result = Select((quarter & 1) == 1, cos, sin);
  const Value negative = ShiftLeft(quarter & 2, is_single ? 30 : 62);
  return FromBits(Bits(result) ^ (negative ^ sign));
}

}  // namespace

Value Sin(Value x) {
  return SinOfTurned(
      x, 0,
      Bits(x) &
          (x.dtype() == DType::kFloat32 ? int64_t{INT32_MIN} : INT64_MIN));
}
Value Cos(Value x) { return SinOfTurned(x, 1, Bits(x).Like(0)); }

}  // namespace tilewright::lowering::functions
