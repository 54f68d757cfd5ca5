// LLD as a library.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_LINK_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_LINK_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tilewright::cpu {

// A shared object from one relocatable object, in memory. Internal names what
// is undefined: kernels call nothing, not even memset. Calls are serialised, as
// LLD has global state.
absl::StatusOr<std::string> LinkSharedObject(std::string_view object);

// Bytes of code of each function in a relocatable object.
absl::StatusOr<std::map<std::string, int64_t>> CodeBytes(
    std::string_view object);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_LINK_H_
