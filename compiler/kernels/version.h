// The version printed by the binaries and stored in compiled models.
#ifndef TILEWRIGHT_COMPILER_KERNELS_VERSION_H_
#define TILEWRIGHT_COMPILER_KERNELS_VERSION_H_

namespace tilewright {

inline constexpr char kVersion[] = "0.1.0";

// The version of code generation from scalar kernels: raised when a code
// generator makes other machine code of the same one. Times recorded before do
// not count any more.
inline constexpr int kCodeGeneration = 1;

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_VERSION_H_
