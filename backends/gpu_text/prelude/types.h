// The types that kernels are written in. Operations mean what the scalar tier
// says: integers wrap, x / 0 is 0, max and min give NaN if either side is NaN,
// casts from float saturate, nothing is contracted.
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
struct fp16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

#define TW_FN static __device__ __forceinline__

// A few elements in registers.
template <typename T, int n>
struct Vec {
  T lane[n];
  __device__ __forceinline__ T operator[](int i) const { return lane[i]; }
};

// Arguments and scratch of so many elements, and a place in them. Threads hand
// each other what is in tw_inout and tw_local; tw_own is a thread's.
#ifndef TW_CHECKED
typedef i64 tw_at;
template <typename T, i64 elements>
using tw_in = const T* __restrict__;
template <typename T, i64 elements>
using tw_out = T* __restrict__;
template <typename T, i64 elements>
using tw_inout = T*;
template <typename T, i64 elements>
using tw_local = T*;
template <typename T, i64 elements>
using tw_own = T[elements];
#endif

// The dialect's own: what hardware or its library does in one operation.
