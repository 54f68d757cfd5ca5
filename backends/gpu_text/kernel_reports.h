// Reads the reports of kernels from a compiled module of GPU text.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_KERNEL_REPORTS_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_KERNEL_REPORTS_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::gpu_text {

// One a kernel, in their order: its name and the bytes of its code, by the
// symbol tables of `elf`, a 64-bit ELF file of any machine (shared object,
// cubin). 0 bytes where those do not tell, or are damaged.
std::vector<backends::KernelReport> KernelReports(
    absl::Span<const kernel_ir::ScalarKernel> kernels, std::string_view elf);

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_KERNEL_REPORTS_H_
