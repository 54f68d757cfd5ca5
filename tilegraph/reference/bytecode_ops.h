// Internal to the reference: one operation on a strip, value and bound.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_OPS_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_OPS_H_

#include <cstdint>

#include "tilegraph/reference/bytecode.h"

namespace tilewright::reference_internal {

// The lanes of one register.
struct Lanes {
  double* v = nullptr;   // floats
  int64_t* i = nullptr;  // integers and bool: 0 or 1
  double* e = nullptr;   // zeros where the register is exact
};

// `exact[k]`: operand k's bound is zero in every lane; `dst_exact`: so is the
// result's, and is left alone.
struct OpOperands {
  Lanes lanes[3];
  bool exact[3] = {true, true, true};
};
void RunBytecodeOp(const BytecodeInst& inst, const OpOperands& operands,
                   bool dst_exact, Lanes dst, int lanes);

}  // namespace tilewright::reference_internal

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_OPS_H_
