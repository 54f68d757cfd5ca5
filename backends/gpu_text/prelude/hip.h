TW_FN float tw_fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
TW_FN double tw_fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
TW_FN float tw_sqrt(float a) { return sqrtf(a); }
TW_FN double tw_sqrt(double a) { return sqrt(a); }
TW_FN float tw_floor(float a) { return __builtin_floorf(a); }
TW_FN double tw_floor(double a) { return __builtin_floor(a); }
TW_FN float tw_ceil(float a) { return __builtin_ceilf(a); }
TW_FN double tw_ceil(double a) { return __builtin_ceil(a); }
TW_FN float tw_round(float a) { return __builtin_rintf(a); }
TW_FN double tw_round(double a) { return __builtin_rint(a); }
TW_FN float tw_abs(float a) { return __builtin_fabsf(a); }
TW_FN double tw_abs(double a) { return __builtin_fabs(a); }
TW_FN float tw_ldexp(float a, int n) { return ldexpf(a, n); }
TW_FN double tw_ldexp(double a, int n) { return ldexp(a, n); }
#ifndef TW_EMULATED
TW_FN float tw_float(fp16 h) {
  union {
    u16 bits;
    _Float16 half;
  } u = {h.bits};
  return (float)u.half;
}
TW_FN fp16 tw_fp16(float f) {
  union {
    _Float16 half;
    u16 bits;
  } u = {(_Float16)f};
  return {u.bits};
}
TW_FN u8* tw_shared() {
  extern __shared__ __align__(64) u8 tw_shared_bytes[];
  return tw_shared_bytes;
}
TW_FN void tw_barrier() { __syncthreads(); }
TW_FN u32 tw_word_xor(u32 word, tw_at mask) {
  return (u32)__shfl_xor((int)word, (int)mask, warpSize);
}
template <int warp>
TW_FN u32 tw_word_of(u32 word, tw_at lane) {
  return (u32)__shfl((int)word, (int)lane, warp);
}
#endif
