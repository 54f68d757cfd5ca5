// What a CPU's compiler needs to take GPU text: stands before the prelude.
#define TW_EMULATED
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

static __thread struct { unsigned x, y, z; } blockIdx;

#define TW_NAMES(name, of_cpu, P, A)                           \
  static inline float name##f P(float) { return of_cpu##f A; } \
  static inline double name P(double) { return of_cpu A; }
#define TW_ONE(T) (T a)
TW_NAMES(floor, __builtin_floor, TW_ONE, (a))
TW_NAMES(ceil, __builtin_ceil, TW_ONE, (a))
TW_NAMES(rint, __builtin_rint, TW_ONE, (a))
TW_NAMES(fabs, __builtin_fabs, TW_ONE, (a))
TW_NAMES(sqrt, __builtin_sqrt, TW_ONE, (a))
#define TW_SCALED(T) (T a, int n)
TW_NAMES(ldexp, __builtin_ldexp, TW_SCALED, (a, n))
static inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
static inline double __fma_rn(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
static inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
static inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }

struct fp16;
static float tw_float(fp16 h);
static fp16 tw_fp16(float f);
static __thread unsigned char* tw_shared_bytes;
static inline unsigned char* tw_shared() { return tw_shared_bytes; }

struct tw_outside_record {
  long long line, block, index, elements;
};
static __thread tw_outside_record tw_outside;

#ifdef TW_CHECKED
// No static of a function: those of templates keep a module from being
// unloaded.
alignas(8) static __thread char tw_nowhere[8];
// An index and the line of the text that it stands in.
struct tw_at {
  long long value;
  int line;
  tw_at(long long value, int line = __builtin_LINE())
      : value(value), line(line) {}
  tw_at operator+(int i) const { return tw_at(value + i, line); }
};
template <typename T, long long elements>
struct tw_checked {
  T* base;
  tw_checked(T* base) : base(base) {}
  T& operator[](tw_at at) const {
    if (at.value >= 0 && at.value < elements) return base[at.value];
    if (tw_outside.line == 0)
      tw_outside = {at.line, blockIdx.x, at.value, elements};
    return *(T*)tw_nowhere;
  }
};
template <typename T, long long elements>
using tw_in = tw_checked<const T, elements>;
template <typename T, long long elements>
using tw_out = tw_checked<T, elements>;
template <typename T, long long elements>
using tw_local = tw_checked<T, elements>;
#endif
