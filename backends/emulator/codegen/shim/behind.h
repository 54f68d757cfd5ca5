// Behind the kernels: how the device calls them.
static float tw_float_of_half(u16 half) {
  const u32 sign = (u32)(half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return tw_bits<float>(sign | 0x7f800000 | magnitude << 13);
  if (magnitude >= 0x400)
    return tw_bits<float>(sign | ((magnitude << 13) + (112u << 23)));
  return tw_bits<float>(sign | tw_bits<u32>((float)magnitude * 0x1p-24f));
}
static u16 tw_half_of_float(float f) {
  const u32 bits = tw_bits<u32>(f), magnitude = bits & 0x7fffffff;
  const u32 sign = bits >> 16 & 0x8000;
  if (magnitude > 0x7f800000) return (u16)(sign | 0x7e00);
  if (magnitude >= 0x47800000) return (u16)(sign | 0x7c00);
  if (magnitude < 0x38800000)
    return (u16)(sign | (u32)rintf(tw_bits<float>(magnitude) * 0x1p24f));
  const u32 rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return (u16)(sign | ((rounded >> 13) - (112 << 10)));
}
TW_INLINE float tw_float(fp16 h) { return tw_float_of_half(h.bits); }
TW_INLINE fp16 tw_fp16(float f) { return {tw_half_of_float(f)}; }

struct tw_arguments {
  void* const* buffers;
  const i64* scalars;
};
template <typename T>
struct tw_argument {
  static T of(void* address) { return (T)address; }
};
#ifdef TW_CHECKED
template <typename T, i64 elements, tw_kind kind>
struct tw_argument<tw_checked<T, elements, kind>> {
  static tw_checked<T, elements, kind> of(void* address) {
    return (T*)address;
  }
};
#endif
template <typename... P>
struct tw_launch {
  void (*kernel)(P...);
  void* const* buffers;
  static void run(void* launch) {
    const tw_launch& l = *(const tw_launch*)launch;
    struct Call {
      Call(void (*kernel)(P...), P... parameters) { kernel(parameters...); }
    };
    void* const* buffer = l.buffers;
    Call{l.kernel, tw_argument<P>::of(*buffer++)...};
  }
};
// The shape of a kernel: `threads` is 0 if it has none, bytes of shared memory
// and of a thread's stack.
struct tw_shape {
  int threads, warp;
  long scratch_bytes, stack_bytes;
};
template <typename... P>
static int tw_run(void (*kernel)(P...), tw_shape shape,
                  const tw_arguments* arguments, i64 begin, i64 end,
                  void* scratch) {
  tw_launch<P...> launch = {kernel, arguments->buffers};
  tw_shared_bytes = (u8*)scratch;
  tw_reported.kind = 0;
  if (tw_block.memory != 0) tw_drop_fibers();  // a fault left them
#ifdef TW_RACES
  tw_forget();
#endif
#ifdef TW_COUNTED
  tw_begin_counts(arguments->buffers, sizeof...(P));
#endif
  if (shape.threads > 0)
    tw_make_fibers(shape.threads, shape.warp, shape.stack_bytes);
  tw_block.body = tw_launch<P...>::run;
  tw_block.context = &launch;
  for (i64 block = begin; block < end && tw_reported.kind == 0; ++block) {
    if (shape.scratch_bytes > 0)
      __builtin_memset(scratch, 0xff, shape.scratch_bytes);
    blockIdx.x = (unsigned)block;
    if (shape.threads > 0)
      tw_run_block(shape.stack_bytes);
    else
      tw_launch<P...>::run(&launch);
#ifdef TW_RACES
    if (shape.threads > 0) tw_drop_flights();
#endif
  }
  if (tw_block.memory != 0) tw_drop_fibers();
#ifdef TW_RACES
  tw_forget();
#endif
  return (int)tw_reported.kind;
}
extern "C" const tw_report_record* tw_last_report() { return &tw_reported; }
#define TW_RUN(kernel, ...)                                                \
  extern "C" int tw_run_##kernel(const tw_arguments* arguments, i64 begin, \
                                 i64 end, void* scratch) {                 \
    return tw_run(kernel, tw_shape{__VA_ARGS__}, arguments, begin, end,    \
                  scratch);                                                \
  }
