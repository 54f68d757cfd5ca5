// The rest is the same in all dialects.

template <typename T>
struct tw_identity {
  typedef T type;
};
template <typename T>
using tw_the = typename tw_identity<T>::type;  // T, from other arguments

template <typename T>
constexpr bool tw_is_float = false;
template <>
constexpr bool tw_is_float<float> = true;
template <>
constexpr bool tw_is_float<double> = true;
template <typename T>
constexpr bool tw_is_bool = false;
template <>
constexpr bool tw_is_bool<bool> = true;
template <typename T>
constexpr bool tw_is_signed = (T)-1 < (T)0;
// Functions: as variables NVRTC 13 makes them external symbols that its own
// linker refuses.
template <typename T>
TW_FN constexpr T tw_highest() {
  return tw_is_signed<T> ? (T)((1ull << (8 * sizeof(T) - 1)) - 1) : (T)-1;
}
template <typename T>
TW_FN constexpr T tw_lowest() {
  return tw_is_signed<T> ? (T)(-tw_highest<T>() - 1) : (T)0;
}
template <int bytes>
struct tw_bytes {
  typedef i32 signed_type;
  typedef u32 unsigned_type;
};
template <>
struct tw_bytes<8> {
  typedef i64 signed_type;
  typedef u64 unsigned_type;
};
template <typename T>
using tw_unsigned = typename tw_bytes<sizeof(T)>::unsigned_type;

// Scalars.
template <typename To, typename From>
TW_FN To tw_bits(From from) {
  union {
    From from;
    To to;
  } u = {from};
  return u.to;
}
template <typename T>
TW_FN T tw_infinity() {
  if constexpr (sizeof(T) == 4)
    return tw_bits<T>(0x7f800000);
  else
    return tw_bits<T>(0x7ff0000000000000ll);
}
template <typename T>
TW_FN T tw_nan() {
  if constexpr (sizeof(T) == 4)
    return tw_bits<T>(0x7fc00000);
  else
    return tw_bits<T>(0x7ff8000000000000ll);
}

#define TW_WRAPS(name, op)                                \
  template <typename T>                                   \
  TW_FN T name(T a, tw_the<T> b) {                        \
    if constexpr (tw_is_float<T>)                         \
      return a op b;                                      \
    else                                                  \
      return (T)((tw_unsigned<T>)a op(tw_unsigned<T>) b); \
  }
TW_WRAPS(tw_add, +)
TW_WRAPS(tw_sub, -)
TW_WRAPS(tw_mul, *)
#undef TW_WRAPS

template <typename T>
TW_FN T tw_neg(T a) {
  if constexpr (tw_is_float<T>)
    return -a;
  else
    return tw_sub((T)0, a);
}
template <typename T>
TW_FN T tw_abs(T a) {
  return tw_is_signed<T> && a < 0 ? tw_neg(a) : a;
}
template <typename T>
TW_FN T tw_not(T a) {
  return (T)~a;
}
TW_FN bool tw_not(bool a) { return !a; }
template <typename T>
TW_FN bool tw_isnan(T a) {
  return a != a;
}

template <typename T>
TW_FN T tw_div(T a, tw_the<T> b) {
  if constexpr (tw_is_float<T>) return a / b;
  if (b == 0) return 0;
  if (tw_is_signed<T> && b == (T)-1) return tw_neg(a);
  return (T)(a / b);
}
// Rounded down.
template <typename T>
TW_FN T tw_floordiv(T a, tw_the<T> b) {
  if (b == 0) return 0;
  if (tw_is_signed<T> && b == (T)-1) return tw_neg(a);
  return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
template <typename T>
TW_FN T tw_floormod(T a, tw_the<T> b) {
  if (b == 0 || (tw_is_signed<T> && b == (T)-1)) return 0;
  return (T)(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}
// Raises an integer to a power; gives 1 / a^n, truncated, where n is negative.
template <typename T>
TW_FN T tw_pow(T a, tw_the<T> n) {
  if (tw_is_signed<T> && n < 0)
    return a == 1 ? 1 : a != (T)-1 ? 0 : n % 2 == 0 ? 1 : -1;
  T power = 1;
  for (; n != 0; n = (T)(n / 2)) {
    if (n % 2 != 0) power = tw_mul(power, a);
    a = tw_mul(a, a);
  }
  return power;
}
// -0 is below +0.
template <typename T>
TW_FN T tw_max(T a, tw_the<T> b) {
#ifdef TW_ORDERED
  if constexpr (tw_is_float<T> && sizeof(T) == 4) return tw_ordered_max(a, b);
#endif
  if constexpr (tw_is_float<T>) {
    typedef typename tw_bytes<sizeof(T)>::signed_type Bits;
    if (a != a || b != b) return tw_nan<T>();
    if (a == b) return tw_bits<T>(tw_bits<Bits>(a) & tw_bits<Bits>(b));
  }
  return a > b ? a : b;
}
template <typename T>
TW_FN T tw_min(T a, tw_the<T> b) {
#ifdef TW_ORDERED
  if constexpr (tw_is_float<T> && sizeof(T) == 4) return tw_ordered_min(a, b);
#endif
  if constexpr (tw_is_float<T>) {
    typedef typename tw_bytes<sizeof(T)>::signed_type Bits;
    if (a != a || b != b) return tw_nan<T>();
    if (a == b) return tw_bits<T>(tw_bits<Bits>(a) | tw_bits<Bits>(b));
  }
  return a < b ? a : b;
}
// a * 2^floor(n), rounded once.
template <typename T>
TW_FN T tw_scale(T a, tw_the<T> n) {
  const T most = sizeof(T) == 4 ? 512 : 4096;  // beyond, all is 0 or infinite
  if (n != n) return n;
  return tw_ldexp(a, (int)tw_floor(n < -most ? -most : n > most ? most : n));
}
template <typename To, typename From>
TW_FN To tw_cast(From a) {
  if constexpr (tw_is_bool<To>) return a != 0;
  if constexpr (tw_is_float<To> && !tw_is_float<From> && sizeof(From) == 8)
    return (To)(double)a;  // rounded twice, as the reference does
  if constexpr (tw_is_float<From> && !tw_is_float<To>) {
    if (a != a) return 0;
    if (a <= (From)tw_lowest<To>()) return tw_lowest<To>();
    if (a >= (From)tw_highest<To>()) return tw_highest<To>();
  }
  return (To)a;
}
TW_FN float tw_float(bf16 b) { return tw_bits<float>((u32)b.bits << 16); }
TW_FN bf16 tw_bf16(float f) {
  const u32 bits = tw_bits<u32>(f);
  if (f != f) return {(u16)(bits >> 16 | 0x40)};
  return {(u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
