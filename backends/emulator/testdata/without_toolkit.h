// Declares as much of CUDA and HIP as GPU text needs, for clang without the
// headers of NVIDIA or AMD.
#ifdef __HIP__
#define BLOCK_INDEX __builtin_amdgcn_workgroup_id_x
#define THREAD_INDEX __builtin_amdgcn_workitem_id_x
#else
#define BLOCK_INDEX __nvvm_read_ptx_sreg_ctaid_x
#define THREAD_INDEX __nvvm_read_ptx_sreg_tid_x
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
struct BlockIndex {
  struct X {
    __device__ operator unsigned() const {
      return BLOCK_INDEX();
    }
  } x;
};
static const __device__ BlockIndex blockIdx = {};
struct ThreadIndex {
  struct X {
    __device__ operator unsigned() const {
      return THREAD_INDEX();
    }
  } x;
};
static const __device__ ThreadIndex threadIdx = {};

#ifdef __HIP__
static const __device__ int warpSize = 64;
__device__ void __syncthreads();
__device__ int __shfl_xor(int word, int mask, int width);
__device__ int __shfl(int word, int lane, int width);
__device__ float sqrtf(float a);
__device__ double sqrt(double a);
__device__ float ldexpf(float a, int n);
__device__ double ldexp(double a, int n);
#else
#define FN static __device__ __forceinline__
FN float __fmaf_rn(float a, float b, float c) {
  return __nvvm_fma_rn_f(a, b, c);
}
FN double __fma_rn(double a, double b, double c) {
  return __nvvm_fma_rn_d(a, b, c);
}
FN float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
FN double __dsqrt_rn(double a) { return __nvvm_sqrt_rn_d(a); }
FN float floorf(float a) { return __builtin_floorf(a); }
FN double floor(double a) { return __builtin_floor(a); }
FN float ceilf(float a) { return __builtin_ceilf(a); }
FN double ceil(double a) { return __builtin_ceil(a); }
FN float rintf(float a) { return __builtin_rintf(a); }
FN double rint(double a) { return __builtin_rint(a); }
FN float fabsf(float a) { return __builtin_fabsf(a); }
FN double fabs(double a) { return __builtin_fabs(a); }
FN unsigned __shfl_xor_sync(unsigned mask, unsigned word, int lane) {
  return __nvvm_shfl_sync_bfly_i32(mask, word, lane, 0x1f);
}
FN unsigned __shfl_sync(unsigned mask, unsigned word, int lane, int width) {
  return __nvvm_shfl_sync_idx_i32(mask, word, lane, (32 - width) << 8 | 0x1f);
}
#undef FN
__device__ float ldexpf(float a, int n);
__device__ double ldexp(double a, int n);
#endif
