// How a CPU kernel is called: shared by the code that makes kernels and the
// device that runs them. Plain C types, nothing else.
//
// A module is a position-independent ELF shared object without undefined
// symbols; each kernel is an exported function of its own name with the type
// below. It runs tasks [task_begin, task_end), calls nothing, keeps no state
// and leaves MXCSR alone, by whose modes denormals may be flushed; its frame is
// at most kMaxKernelStackBytes.
#ifndef TILEWRIGHT_BACKENDS_CPU_KERNEL_ABI_H_
#define TILEWRIGHT_BACKENDS_CPU_KERNEL_ABI_H_

#include <cstdint>

namespace tilewright::cpu {

// Read by offset in generated code: append only, and raise kKernelAbiVersion.
struct KernelArgs {
  // Address of each argument buffer's element 0, in the kernel's order; aligned
  // to the element. Reads and writes stay within the buffer's elements.
  void* const* buffers;
  // Tile origin and dims, for kernels that take any.
  const int64_t* scalars;
};

// The kernel's status word.
enum KernelStatus : int32_t {
  kKernelOk = 0,
  // A data-dependent index was out of range; it was clamped.
  kKernelIndexOutOfRange = 1,
};

// `scratch`: 64-byte aligned, at least the kernel's scratch bytes, not shared
// with another thread; undefined contents.
using KernelFunction = int32_t (*)(const KernelArgs* args, int64_t task_begin,
                                   int64_t task_end, void* scratch);

inline constexpr int kKernelAbiVersion = 1;
inline constexpr int64_t kMaxKernelStackBytes = 16 * 1024;

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_KERNEL_ABI_H_
