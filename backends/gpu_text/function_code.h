// The machine code of the functions of a compiled module.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_FUNCTION_CODE_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_FUNCTION_CODE_H_

#include <map>
#include <string>
#include <string_view>

namespace tilewright::gpu_text {

// The code of each function, by its name, where the symbol tables of a module
// say that it lies: a 64-bit ELF file of any machine (shared object, cubin,
// code object), or an archive of such. Views into it; nothing where that is
// damaged.
std::map<std::string, std::string_view> FunctionCode(std::string_view module);

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_FUNCTION_CODE_H_
