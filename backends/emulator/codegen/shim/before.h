// Lets a CPU's compiler take GPU text: stands before the prelude.
#define TW_EMULATED
#define __global__
#define __device__
#ifdef TW_RACES
// The race sanitizer sees no structure on its way into or out of a call.
#define __forceinline__ inline __attribute__((always_inline))
#else
#define __forceinline__ inline
#endif
#define __launch_bounds__(...)

static __thread struct { unsigned x, y, z; } blockIdx, threadIdx;

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
#define TW_INLINE static inline __attribute__((always_inline))
TW_INLINE float tw_float(fp16 h);
TW_INLINE fp16 tw_fp16(float f);
static __thread unsigned char* tw_shared_bytes;
static inline unsigned char* tw_shared() { return tw_shared_bytes; }

// Kinds of mistakes: backends/emulator/module_abi.h.
enum {
  tw_outside = 2,
  tw_race,
  tw_unwritten,
  tw_parted,
  tw_misaligned,
  tw_lost_wait
};
struct tw_report_record {
  long long kind, line, block, thread, index, elements;
  long long writes, wrote, other_line, other_block, other_thread;
};
static __thread tw_report_record tw_reported;

#ifdef TW_CHECKED
#ifndef TW_COUNTED
#define TW_COLUMN 0
#elif defined(__clang__)
#define TW_COLUMN __builtin_COLUMN()
#else
namespace std {
struct source_location {
  struct __impl {
    const char* _M_file_name;
    const char* _M_function_name;
    unsigned _M_line, _M_column;
  };
};
}  // namespace std
#define TW_COLUMN                                                        \
  (int)((const std::source_location::__impl*)__builtin_source_location()) \
      ->_M_column
#endif
// An index and where it stands in the text.
struct tw_at {
  long long value;
  int line;
  int place;  // its column times 256, and which element of a vector it is
  tw_at(long long value, int line = __builtin_LINE(), int column = TW_COLUMN)
      : value(value), line(line), place(column << 8) {}
  tw_at operator+(int i) const {
    tw_at at = *this;
    at.value += i;
    at.place += i;
    return at;
  }
};
#else
template <int n, typename P>
TW_INLINE void tw_must_align(P, long long) {}
#endif
