TW_FN float tw_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
TW_FN double tw_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
TW_FN float tw_sqrt(float a) { return __fsqrt_rn(a); }
TW_FN double tw_sqrt(double a) { return __dsqrt_rn(a); }
TW_FN float tw_floor(float a) { return floorf(a); }
TW_FN double tw_floor(double a) { return floor(a); }
TW_FN float tw_ceil(float a) { return ceilf(a); }
TW_FN double tw_ceil(double a) { return ceil(a); }
TW_FN float tw_round(float a) { return rintf(a); }
TW_FN double tw_round(double a) { return rint(a); }
TW_FN float tw_abs(float a) { return fabsf(a); }
TW_FN double tw_abs(double a) { return fabs(a); }
TW_FN float tw_ldexp(float a, int n) { return ldexpf(a, n); }
TW_FN double tw_ldexp(double a, int n) { return ldexp(a, n); }
#ifndef TW_EMULATED
TW_FN float tw_float(fp16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
TW_FN fp16 tw_fp16(float f) {
  fp16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
  return h;
}
TW_FN u8* tw_shared() {
  extern __shared__ __align__(64) u8 tw_shared_bytes[];
  return tw_shared_bytes;
}
TW_FN void tw_barrier() { __syncthreads(); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// tw_max and tw_min in one instruction: -0 is below +0, NaN wins.
#define TW_ORDERED
TW_FN float tw_ordered_max(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}
TW_FN float tw_ordered_min(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
#define TW_ASYNC
// 4, 8 or 16 bytes, past the registers; 16 past the L1 too.
template <int bytes>
TW_FN void tw_async_piece(void* to, const void* from, bool there) {
  u64 shared;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(shared) : "l"(to));
  const u32 at = (u32)shared, read = there ? bytes : 0;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at),
                 "l"(from), "r"(read)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at),
                 "l"(from), "n"(bytes), "r"(read)
                 : "memory");
}
TW_FN void tw_commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int pending>
TW_FN void tw_wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
#endif
TW_FN u32 tw_word_xor(u32 word, tw_at mask) {
  return __shfl_xor_sync(0xffffffffu, word, (int)mask);
}
template <int warp>
TW_FN u32 tw_word_of(u32 word, tw_at lane) {
  return __shfl_sync(0xffffffffu, word, (int)lane, warp);
}
#endif
