// Internal to the scalar interpreter: flat code with jump targets, and the
// functions that run one instruction of it.
//
// The register file is one block of bytes; a register is `lanes` elements of
// its own type at a byte offset (bool: one byte, 0 or 1).
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_CODE_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_CODE_H_

#include <cstdint>
#include <cstring>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::kernel_ir::internal {

// Base of the machine's state; what memory instructions need is added by the
// interpreter.
struct Machine {
  char* regs = nullptr;
};

struct Code;
// Runs `code` and returns what runs next; null stops the machine.
using Step = const Code* (*)(Machine&, const Code*);

struct Code {
  Step step = nullptr;
  int32_t dst = 0, a = 0, b = 0, c = 0;  // byte offsets of registers; -1: none
  int32_t lanes = 1;
  int32_t aux = 0;               // buffer, lane, active lanes, ...
  int64_t imm = 0;               // constant offset, step, ...
  const Code* target = nullptr;  // where a jump goes
  Op op = Op::kConst;
  DType dtype = DType::kFloat32;          // of the result
  DType operand_dtype = DType::kFloat32;  // of the last operand
  bool scalar_mask = false;
  int32_t active = 0;
  int32_t position = 0;  // number of the instruction, for messages
};

// The function for one arithmetic operation; falls back to EvaluateOp lane by
// lane where no fast path exists.
Step StepFor(Op op, DType dtype, DType operand_dtype);
Step FmaStepFor(DType dtype);
Step ScaleStepFor(DType dtype);

// Lane `lane` of a register of that type.
template <typename T>
T At(const char* p, int lane) {
  T value;
  std::memcpy(&value, p + lane * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void Put(char* p, int lane, T value) {
  std::memcpy(p + lane * sizeof(T), &value, sizeof(T));
}

// The same of any dtype.
Scalar ReadLane(const char* reg, DType dtype, int lane);
void WriteLane(char* reg, DType dtype, int lane, Scalar value);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_CODE_H_
