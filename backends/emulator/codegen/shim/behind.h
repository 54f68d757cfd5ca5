// Behind the kernels: how the device calls them.
static float tw_float(fp16 h) {
  const u32 sign = (u32)(h.bits & 0x8000) << 16, magnitude = h.bits & 0x7fff;
  if (magnitude >= 0x7c00)
    return tw_bits<float>(sign | 0x7f800000 | magnitude << 13);
  if (magnitude >= 0x400)
    return tw_bits<float>(sign | ((magnitude << 13) + (112u << 23)));
  return tw_bits<float>(sign | tw_bits<u32>((float)magnitude * 0x1p-24f));
}
static fp16 tw_fp16(float f) {
  const u32 bits = tw_bits<u32>(f), magnitude = bits & 0x7fffffff;
  const u32 sign = bits >> 16 & 0x8000;
  if (magnitude > 0x7f800000) return {(u16)(sign | 0x7e00)};
  if (magnitude >= 0x47800000) return {(u16)(sign | 0x7c00)};
  if (magnitude < 0x38800000)
    return {(u16)(sign | (u32)rintf(tw_bits<float>(magnitude) * 0x1p24f))};
  const u32 rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return {(u16)(sign | ((rounded >> 13) - (112 << 10)))};
}

struct tw_arguments {
  void* const* buffers;
  const i64* scalars;
};
template <typename T>
struct tw_argument {
  static T of(void* address) { return (T)address; }
};
#ifdef TW_CHECKED
template <typename T, i64 elements>
struct tw_argument<tw_checked<T, elements>> {
  static tw_checked<T, elements> of(void* address) { return (T*)address; }
};
#endif
template <typename... P>
static int tw_run(void (*kernel)(P...), const tw_arguments* arguments,
                  i64 begin, i64 end, void* scratch) {
  struct Call {
    Call(void (*kernel)(P...), P... parameters) { kernel(parameters...); }
  };
  tw_shared_bytes = (u8*)scratch;
  tw_outside.line = 0;
  for (i64 block = begin; block < end; ++block) {
    blockIdx.x = (unsigned)block;
    void* const* buffer = arguments->buffers;
    Call{kernel, tw_argument<P>::of(*buffer++)...};
    if (tw_outside.line != 0) return 2;
  }
  return 0;
}
extern "C" const tw_outside_record* tw_outside_access() { return &tw_outside; }
#define TW_RUN(kernel)                                                     \
  extern "C" int tw_run_##kernel(const tw_arguments* arguments, i64 begin, \
                                 i64 end, void* scratch) {                 \
    return tw_run(kernel, arguments, begin, end, scratch);                 \
  }
