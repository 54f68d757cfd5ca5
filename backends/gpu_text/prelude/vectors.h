
// Scratch: the block's shared memory.
template <typename T, i64 elements>
TW_FN tw_local<T, elements> tw_scratch(i64 offset_bytes) {
  return (T*)(tw_shared() + offset_bytes);
}

// The statements for each lane i of n, written out as far as vectors go:
// compilers take arrays apart before they unroll loops, and need a multiple of
// the time where they have to do so again.
#define TW_LANE(at, n, ...)      \
  if constexpr ((at) < (n)) {    \
    constexpr int i = (int)(at); \
    __VA_ARGS__;                 \
  }
#define TW_FOUR_LANES(at, n, ...)   \
  TW_LANE(at, n, __VA_ARGS__)       \
  TW_LANE((at) + 1, n, __VA_ARGS__) \
  TW_LANE((at) + 2, n, __VA_ARGS__) \
  TW_LANE((at) + 3, n, __VA_ARGS__)
#define TW_LANES(n, ...)                                            \
  TW_FOUR_LANES(0, n, __VA_ARGS__)                                  \
  TW_FOUR_LANES(4, n, __VA_ARGS__)                                  \
  TW_FOUR_LANES(8, n, __VA_ARGS__)                                  \
  TW_FOUR_LANES(12, n, __VA_ARGS__)                                 \
  if constexpr ((n) > 16) {                                         \
    _Pragma("unroll") for (int i = 16; i < n; ++i) { __VA_ARGS__; } \
  }

// Vectors, lane by lane; what is not the first operand may be a scalar.
template <typename T, int n>
TW_FN T tw_lane(const Vec<T, n>& v, int i) {
  return v.lane[i];
}
template <typename T>
TW_FN T tw_lane(T a, int) {
  return a;
}
template <int n, typename T>
TW_FN Vec<T, n> tw_splat(T a) {
  Vec<T, n> r;
  TW_LANES(n, r.lane[i] = a);
  return r;
}

#define TW_UNARY(name, f)                  \
  template <typename T, int n>             \
  TW_FN auto name(const Vec<T, n>& v) {    \
    Vec<decltype(f(v.lane[0])), n> r;      \
    TW_LANES(n, r.lane[i] = f(v.lane[i])); \
    return r;                              \
  }
TW_UNARY(operator-, tw_neg)
TW_UNARY(tw_not, tw_not)
TW_UNARY(tw_abs, tw_abs)
TW_UNARY(tw_sqrt, tw_sqrt)
TW_UNARY(tw_floor, tw_floor)
TW_UNARY(tw_ceil, tw_ceil)
TW_UNARY(tw_round, tw_round)
TW_UNARY(tw_isnan, tw_isnan)
#undef TW_UNARY

#define TW_BINARY(name, R, expression)                    \
  template <typename T, int n, typename B>                \
  TW_FN Vec<R, n> name(const Vec<T, n>& v, const B& w) {  \
    Vec<R, n> r;                                          \
    TW_LANES(n, const T a = v.lane[i], b = tw_lane(w, i); \
             r.lane[i] = expression);                     \
    return r;                                             \
  }                                                       \
  template <typename T, int n>                            \
  TW_FN Vec<R, n> name(tw_the<T> a, const Vec<T, n>& w) { \
    return name(tw_splat<n>(a), w);                       \
  }
TW_BINARY(operator+, T, tw_add(a, b))
TW_BINARY(operator-, T, tw_sub(a, b))
TW_BINARY(operator*, T, tw_mul(a, b))
TW_BINARY(operator/, T, tw_div(a, b))
TW_BINARY(operator&, T, (T)(a& b))
TW_BINARY(operator|, T, (T)(a | b))
TW_BINARY(operator^, T, (T)(a ^ b))
TW_BINARY(operator==, bool, a == b)
TW_BINARY(operator!=, bool, a != b)
TW_BINARY(operator<, bool, a < b)
TW_BINARY(operator<=, bool, a <= b)
TW_BINARY(operator>, bool, a > b)
TW_BINARY(operator>=, bool, a >= b)
TW_BINARY(tw_floordiv, T, tw_floordiv(a, b))
TW_BINARY(tw_floormod, T, tw_floormod(a, b))
TW_BINARY(tw_pow, T, tw_pow(a, b))
TW_BINARY(tw_max, T, tw_max(a, b))
TW_BINARY(tw_min, T, tw_min(a, b))
TW_BINARY(tw_scale, T, tw_scale(a, b))
#undef TW_BINARY

template <typename T, int n, typename B, typename C>
TW_FN Vec<T, n> tw_fma(const Vec<T, n>& a, const B& b, const C& c) {
  Vec<T, n> r;
  TW_LANES(n,
           r.lane[i] = tw_fma(a.lane[i], (T)tw_lane(b, i), (T)tw_lane(c, i)));
  return r;
}
template <typename T, int n, typename B>
TW_FN Vec<T, n> tw_select(const Vec<bool, n>& c, const Vec<T, n>& a,
                          const B& b) {
  Vec<T, n> r;
  TW_LANES(n, r.lane[i] = c.lane[i] ? a.lane[i] : (T)tw_lane(b, i));
  return r;
}
template <typename T, int n>
TW_FN Vec<T, n> tw_select(const Vec<bool, n>& c, tw_the<T> a,
                          const Vec<T, n>& b) {
  return tw_select(c, tw_splat<n>(a), b);
}
template <typename To, typename T, int n>
TW_FN Vec<To, n> tw_cast(const Vec<T, n>& v) {
  Vec<To, n> r;
  TW_LANES(n, r.lane[i] = tw_cast<To>(v.lane[i]));
  return r;
}
template <typename To, typename T, int n>
TW_FN Vec<To, n> tw_bits(const Vec<T, n>& v) {
  Vec<To, n> r;
  TW_LANES(n, r.lane[i] = tw_bits<To>(v.lane[i]));
  return r;
}
template <int n>
TW_FN bool tw_any(const Vec<bool, n>& v) {
  bool any = false;
  TW_LANES(n, any = any || v.lane[i]);
  return any;
}
template <typename T, int n>
TW_FN Vec<T, n> tw_insert(Vec<T, n> v, int at, tw_the<T> a) {
  v.lane[at] = a;
  return v;
}
// Lanes of a followed by those of b.
template <int... lanes, typename T, int n>
TW_FN Vec<T, sizeof...(lanes)> tw_shuffle(const Vec<T, n>& a,
                                          const Vec<T, n>& b) {
  return {{(lanes < n ? a.lane[lanes < n ? lanes : 0]
                      : b.lane[lanes < n ? 0 : lanes - n])...}};
}
// The table's entry of a's low four bits.
TW_FN float tw_lookup(float a, const float* table) {
  return table[tw_bits<u32>(a) % 16];
}
template <int n>
TW_FN Vec<float, n> tw_lookup(const Vec<float, n>& v, const float* table) {
  Vec<float, n> r;
  TW_LANES(n, r.lane[i] = tw_lookup(v.lane[i], table));
  return r;
}
// The table's element at each byte.
template <typename T, int bytes>
TW_FN T tw_permute(u8 byte, const Vec<T, bytes>& table) {
  return table.lane[byte];
}
template <typename T, int n, int bytes>
TW_FN Vec<T, n> tw_permute(const Vec<u8, n>& v, const Vec<T, bytes>& table) {
  Vec<T, n> r;
  TW_LANES(n, r.lane[i] = table.lane[v.lane[i]]);
  return r;
}
// acc plus sums of groups of products: lane i adds a[g] * b[i * group + g].
// Elements of u16 are the bits of bf16.
template <typename T>
TW_FN T tw_term(u8 a, i8 b, T) {
  return a * b;
}
TW_FN float tw_term(u16 a, u16 b, float) {
  return tw_float(bf16{a}) * tw_float(bf16{b});
}
template <typename T, int n, typename A, int group, typename B>
TW_FN Vec<T, n> tw_dot(Vec<T, n> acc, const Vec<A, group>& a,
                       const Vec<B, group * n>& b) {
  TW_LANES(n, for (int g = 0; g < group; ++g) acc.lane[i] = tw_add(
                  acc.lane[i], tw_term(a.lane[g], b.lane[i * group + g], T())));
  return acc;
}
template <typename T, typename A, int group, typename B>
TW_FN T tw_dot(T acc, const Vec<A, group>& a, const Vec<B, group>& b) {
  return tw_dot(tw_splat<1>(acc), a, b).lane[0];
}

// Memory: halves are widened to float on their way to registers.
template <typename T>
TW_FN T tw_widen(T element) {
  return element;
}
TW_FN float tw_widen(fp16 element) { return tw_float(element); }
TW_FN float tw_widen(bf16 element) { return tw_float(element); }
template <typename T>
TW_FN void tw_set(T& element, T value) {
  element = value;
}
TW_FN void tw_set(fp16& element, float value) { element = tw_fp16(value); }
TW_FN void tw_set(bf16& element, float value) { element = tw_bf16(value); }

// The first `active` lanes, where `mask` is true; others are `other`, or 0.
template <int n, typename P, typename M, typename O>
TW_FN auto tw_load(P from, tw_at at, int active, const M& mask,
                   const O& other) {
  Vec<decltype(tw_widen(from[at])), n> r;
  TW_LANES(
      n, if (i < active && tw_lane(mask, i)) r.lane[i] = tw_widen(from[at + i]);
      else r.lane[i] = tw_lane(other, i));
  return r;
}
template <int n, typename P, typename M = bool>
TW_FN auto tw_load(P from, tw_at at, int active = n, const M& mask = true) {
  return tw_load<n>(from, at, active, mask, 0);
}
template <int n, typename P>
TW_FN Vec<u16, n> tw_load_bits(P from, tw_at at, int active = n) {
  Vec<u16, n> r;
  TW_LANES(n, r.lane[i] = i < active ? from[at + i].bits : 0);
  return r;
}
template <typename P, typename T, int n, typename M = bool>
TW_FN void tw_store(P to, tw_at at, const Vec<T, n>& v, int active = n,
                    const M& mask = true) {
  TW_LANES(n,
           if (i < active && tw_lane(mask, i)) tw_set(to[at + i], v.lane[i]));
}

// Whole vectors at multiples of their size, or of 16 bytes: as few accesses as
// there can be.
#ifdef TW_EMULATED
template <int n, typename P>
TW_FN auto tw_load_aligned(P from, tw_at at) {
  tw_must_align<n>(from, at);
  return tw_load<n>(from, at);
}
template <typename P, typename T, int n>
TW_FN void tw_store_aligned(P to, tw_at at, const Vec<T, n>& v) {
  tw_must_align<n>(to, at);
  tw_store(to, at, v);
}
#else
template <typename T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) tw_whole {
  T lane[n];
};
template <int n, typename T>
TW_FN auto tw_load_aligned(const T* from, tw_at at) {
  const tw_whole<T, n> whole = *(const tw_whole<T, n>*)(from + at);
  Vec<decltype(tw_widen(*from)), n> r;
  TW_LANES(n, r.lane[i] = tw_widen(whole.lane[i]));
  return r;
}
template <typename E, typename T, int n>
TW_FN void tw_store_aligned(E* to, tw_at at, const Vec<T, n>& v) {
  tw_whole<E, n> whole;
  TW_LANES(n, tw_set(whole.lane[i], v.lane[i]));
  *(tw_whole<E, n>*)(to + at) = whole;
}
#endif
template <int n, typename P, typename O>
TW_FN auto tw_load_aligned(P from, tw_at at, bool mask, const O& other) {
  Vec<decltype(tw_widen(from[at])), n> r;
  if (mask) {
    r = tw_load_aligned<n>(from, at);
  } else {
    TW_LANES(n, r.lane[i] = tw_lane(other, i));
  }
  return r;
}
