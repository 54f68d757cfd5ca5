// The emulator's modules: shared objects as backends/cpu/kernel_abi.h says,
// with a function tw_run_NAME of type cpu::KernelFunction for each kernel NAME.
// A task is a block; `scratch` is its shared memory.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_

#include <cstdint>

namespace tilewright::emulator {

inline constexpr char kRunPrefix[] = "tw_run_";
// What such a function returns, beside cpu::KernelStatus, once a checked module
// has seen an access outside a buffer. The access was not made.
inline constexpr int32_t kAccessOutside = 2;

// The calling thread's last such access.
struct OutsideAccess {
  int64_t line;  // of the module's text, from 1
  int64_t block;
  int64_t index, elements;
};
inline constexpr char kOutsideAccessSymbol[] = "tw_outside_access";
using OutsideAccessFunction = const OutsideAccess* (*)();

// The text of the kernels, a string.
inline constexpr char kTextSymbol[] = "tw_text";

// Modules' targets: this and the name of a dialect.
inline constexpr char kTargetPrefix[] = "emulator:";

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_
