// How large the functions of a compiled module are.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_FUNCTION_BYTES_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_FUNCTION_BYTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tilewright::gpu_text {

// Bytes of code of each function, by its name: what the symbol tables of `elf`
// say, a 64-bit ELF file of any machine (shared object, cubin, code object).
// Nothing where that is damaged.
std::map<std::string, int64_t> FunctionBytes(std::string_view elf);

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_FUNCTION_BYTES_H_
