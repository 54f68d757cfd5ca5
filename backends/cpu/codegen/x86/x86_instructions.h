// Instructions of x86-64 that LLVM has no portable operations for.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_X86_INSTRUCTIONS_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_X86_INSTRUCTIONS_H_

#include <memory>

#include "backends/cpu/codegen/llvm/cpu_target.h"

namespace tilewright::cpu {

struct X86Features {
  int vector_bytes = 16;
  bool range = false;  // VRANGEPS and its like: AVX-512DQ with VL
  bool vnni = false;   // AVX512_VNNI: products of bytes, summed by four
  bool bf16 = false;   // AVX512_BF16: products of bf16, summed by two
};

std::shared_ptr<const SpecialInstructions> X86Instructions(
    const X86Features& features);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_X86_INSTRUCTIONS_H_
