// Is this an x86-64 shared object, whole enough to be mapped?
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_ELF_CHECK_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_ELF_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

namespace tilewright::cpu {

// InvalidArgument unless `bytes` is a 64-bit little-endian x86-64 shared object
// whose segments lie within it (mapping a truncated one would crash later) and
// which needs no other library.
absl::Status CheckSharedObject(std::string_view bytes);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_ELF_CHECK_H_
