// Closed intervals with open ends: the arithmetic behind RangeOfExpr. An end
// that is not known is kMinusInfinity or kPlusInfinity; a sum or product that
// could leave int64 has no known end at all, because integers wrap.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_INTERVAL_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_INTERVAL_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tilewright {

// Rounded down; division by zero gives zero (the semantics of Op::kFloorDiv and
// kFloorMod).
inline int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline int64_t FloorModulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t r = a % b;
  return r + ((r != 0 && ((r < 0) != (b < 0))) ? b : 0);
}
inline int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
inline int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
inline int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

struct Interval {
  static constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kPlusInfinity = std::numeric_limits<int64_t>::max();

  int64_t lo = kMinusInfinity;
  int64_t hi = kPlusInfinity;

  static Interval Point(int64_t v) { return {v, v}; }
  bool bounded() const { return lo != kMinusInfinity && hi != kPlusInfinity; }
  bool Within(int64_t a, int64_t b) const { return lo >= a && hi <= b; }

  friend Interval operator+(Interval a, Interval b) {
    Interval r;
    if (!a.bounded() || !b.bounded() ||
        __builtin_add_overflow(a.lo, b.lo, &r.lo) ||
        __builtin_add_overflow(a.hi, b.hi, &r.hi))
      return {};
    return r;
  }
  friend Interval operator*(Interval a, Interval b) {
    int64_t p[4];
    if (!a.bounded() || !b.bounded() ||
        __builtin_mul_overflow(a.lo, b.lo, &p[0]) ||
        __builtin_mul_overflow(a.lo, b.hi, &p[1]) ||
        __builtin_mul_overflow(a.hi, b.lo, &p[2]) ||
        __builtin_mul_overflow(a.hi, b.hi, &p[3])) {
      return {};
    }
    return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
  }
  // REQUIRES: divisor > 0.
  Interval FloorDivBy(int64_t divisor) const {
    return {lo == kMinusInfinity ? lo : FloorDivide(lo, divisor),
            hi == kPlusInfinity ? hi : FloorDivide(hi, divisor)};
  }
  Interval FloorModBy(int64_t divisor) const {
    if (bounded() && FloorDivide(lo, divisor) == FloorDivide(hi, divisor))
      return {FloorModulo(lo, divisor), FloorModulo(hi, divisor)};
    return {0, divisor - 1};
  }
  static Interval Min(Interval a, Interval b) {
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  }
  static Interval Max(Interval a, Interval b) {
    return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
  static Interval Hull(Interval a, Interval b) {
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_INTERVAL_H_
