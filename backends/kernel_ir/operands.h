// The registers that an instruction of the scalar tier reads and sets.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_OPERANDS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_OPERANDS_H_

#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

// In the order of its fields; of loops and ifs the bounds and the condition.
std::vector<Reg> Reads(const Inst& inst);
// The register that it sets, loop variables included, or kNoReg.
Reg Sets(const Inst& inst);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_OPERANDS_H_
