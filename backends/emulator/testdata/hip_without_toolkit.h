// Declares as much of HIP as GPU text needs, for clang without AMD's headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
struct BlockIndex {
  struct X {
    __device__ operator unsigned() const {
      return __builtin_amdgcn_workgroup_id_x();
    }
  } x;
};
static const __device__ BlockIndex blockIdx = {};
struct ThreadIndex {
  struct X {
    __device__ operator unsigned() const {
      return __builtin_amdgcn_workitem_id_x();
    }
  } x;
};
static const __device__ ThreadIndex threadIdx = {};
static const __device__ int warpSize = 64;
__device__ void __syncthreads();
__device__ int __shfl_xor(int word, int mask, int width);
__device__ int __shfl(int word, int lane, int width);
__device__ float sqrtf(float a);
__device__ double sqrt(double a);
__device__ float ldexpf(float a, int n);
__device__ double ldexp(double a, int n);
