// The part of oneDNN's C interface, version 2, that the benchmark calls:
// functions found by name, descriptors as opaque bytes that only the library
// fills and reads.
#ifndef TILEWRIGHT_BENCH_KERNELS_ONEDNN_API_H_
#define TILEWRIGHT_BENCH_KERNELS_ONEDNN_API_H_

#include <cstddef>
#include <cstdint>

namespace tilewright::bench::dnnl {

// Every function returns 0 for success.
using Status = int;

constexpr int kMaxDims = 12;
struct Dims {
  int64_t extents[kMaxDims];
};

// Larger than any of the library's own (dnnl_convolution_desc_t: 5976 bytes).
struct alignas(64) OpDescriptor {
  unsigned char bytes[16384];
};
// dnnl_memory_desc_t: 696 bytes.
struct alignas(64) MemoryDescriptor {
  unsigned char bytes[1024];
};

struct Engine;
struct Stream;
struct Memory;
struct Primitive;
struct PrimitiveDescriptor;
struct Attributes;

struct Version {
  int major, minor, patch;
};
struct ExecArgument {
  int argument;
  Memory* memory;
};

// Enumerators, by the names of dnnl_types.h.
inline constexpr int kF32 = 3;
inline constexpr int kFormatAny = 1;
inline constexpr int kFormatABcd16b = 69;
inline constexpr int kForwardInference = 96;
inline constexpr int kConvolutionDirect = 0x1;
inline constexpr int kConvolutionWinograd = 0x2;
inline constexpr int kPoolingMax = 0x1ff;
inline constexpr int kPoolingAvgIncludePadding = 0x2ff;
inline constexpr int kPoolingAvgExcludePadding = 0x3ff;
inline constexpr int kEltwiseGeluErf = 0x30;
inline constexpr int kEltwiseLogistic = 0xaf;
inline constexpr int kResamplingNearest = 0x2fff0;
inline constexpr int kResamplingLinear = 0x2fff1;
inline constexpr int kBinaryAdd = 0x1fff0;
inline constexpr int kUseScale = 0x8;
inline constexpr int kUseShift = 0x10;
inline constexpr int kQueryExecArgMd = 0xff;
inline constexpr int kCpu = 1;
inline constexpr unsigned kInOrder = 1;
inline constexpr int kArgSrc = 1;
inline constexpr int kArgSrc1 = 2;
inline constexpr int kArgDst = 17;
inline constexpr int kArgWeights = 33;
inline constexpr int kArgBias = 41;
inline constexpr int kArgScale = 51;
inline constexpr int kArgShift = 52;

// The functions, by name without "dnnl_".
struct Api {
  const Version* (*version)();
  Status (*engine_create)(Engine**, int kind, size_t index);
  Status (*stream_create)(Stream**, Engine*, unsigned flags);
  Status (*stream_wait)(Stream*);
  Status (*memory_desc_init_by_tag)(MemoryDescriptor*, int rank,
                                    const Dims& extents, int dtype, int tag);
  Status (*memory_desc_init_by_strides)(MemoryDescriptor*, int rank,
                                        const Dims& extents, int dtype,
                                        const Dims& strides);
  size_t (*memory_desc_get_size)(const MemoryDescriptor*);
  Status (*memory_create)(Memory**, const MemoryDescriptor*, Engine*,
                          void* data);
  Status (*memory_destroy)(Memory*);
  Status (*primitive_desc_create)(PrimitiveDescriptor**, const OpDescriptor*,
                                  const Attributes*, Engine*,
                                  const PrimitiveDescriptor* hint);
  const MemoryDescriptor* (*primitive_desc_query_md)(const PrimitiveDescriptor*,
                                                     int what, int index);
  Status (*primitive_desc_destroy)(PrimitiveDescriptor*);
  Status (*primitive_create)(Primitive**, const PrimitiveDescriptor*);
  Status (*primitive_execute)(const Primitive*, Stream*, int count,
                              const ExecArgument*);
  Status (*primitive_destroy)(Primitive*);
  Status (*matmul_desc_init)(OpDescriptor*, const MemoryDescriptor* src,
                             const MemoryDescriptor* weights,
                             const MemoryDescriptor* bias,
                             const MemoryDescriptor* dst);
  Status (*convolution_forward_desc_init)(
      OpDescriptor*, int prop_kind, int algorithm, const MemoryDescriptor* src,
      const MemoryDescriptor* weights, const MemoryDescriptor* bias,
      const MemoryDescriptor* dst, const Dims& strides, const Dims& pad_left,
      const Dims& pad_right);
  Status (*softmax_forward_desc_init)(OpDescriptor*, int prop_kind,
                                      const MemoryDescriptor* data, int axis);
  Status (*layer_normalization_forward_desc_init)(OpDescriptor*, int prop_kind,
                                                  const MemoryDescriptor* data,
                                                  const MemoryDescriptor* stats,
                                                  float epsilon,
                                                  unsigned flags);
  Status (*pooling_forward_desc_init)(
      OpDescriptor*, int prop_kind, int algorithm, const MemoryDescriptor* src,
      const MemoryDescriptor* dst, const Dims& strides, const Dims& kernel,
      const Dims& pad_left, const Dims& pad_right);
  Status (*resampling_forward_desc_init)(OpDescriptor*, int prop_kind,
                                         int algorithm, const float* factors,
                                         const MemoryDescriptor* src,
                                         const MemoryDescriptor* dst);
  Status (*eltwise_forward_desc_init)(OpDescriptor*, int prop_kind,
                                      int algorithm,
                                      const MemoryDescriptor* data, float alpha,
                                      float beta);
  Status (*binary_desc_init)(OpDescriptor*, int algorithm,
                             const MemoryDescriptor* src0,
                             const MemoryDescriptor* src1,
                             const MemoryDescriptor* dst);
  Status (*reorder_primitive_desc_create)(PrimitiveDescriptor**,
                                          const MemoryDescriptor* src, Engine*,
                                          const MemoryDescriptor* dst, Engine*,
                                          const Attributes*);
};

}  // namespace tilewright::bench::dnnl

#endif  // TILEWRIGHT_BENCH_KERNELS_ONEDNN_API_H_
