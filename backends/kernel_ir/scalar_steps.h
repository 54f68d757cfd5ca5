// Internal to the scalar interpreter: the instructions that are neither
// arithmetic nor memory. A lane has imm bytes where nothing else is said.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_STEPS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_STEPS_H_

#include <cstdint>

#include "backends/kernel_ir/scalar_code.h"

namespace tilewright::kernel_ir::internal {

// To an i64 or i32 register.
void WriteIndex(Machine& m, int32_t at, DType dtype, int64_t value);

// imm: bytes of the whole register.
const Code* CopyStep(Machine& m, const Code* c);
const Code* SplatStep(Machine& m, const Code* c);
// aux: lane.
const Code* LaneStep(Machine& m, const Code* c);
// a with lane aux replaced by b.
const Code* InsertStep(Machine& m, const Code* c);
// a, b: sources of aux lanes each; c: the lane numbers, as i32.
const Code* ShuffleStep(Machine& m, const Code* c);
// c: a table of aux f32, a power of two; a: f32, whose low bits say which.
const Code* LookupStep(Machine& m, const Code* c);
// c: a table of bytes; a: bytes, which say which.
const Code* PermuteStep(Machine& m, const Code* c);
const Code* AnyStep(Machine& m, const Code* c);

// dst, c: accumulators; a, b: operands; aux: terms of a group.
const Code* DotIntStep(Machine& m, const Code* c);
const Code* DotFloatStep(Machine& m, const Code* c);

const Code* HaltStep(Machine& m, const Code* c);
const Code* JumpStep(Machine& m, const Code* c);
// On, or out if a is false.
const Code* IfStep(Machine& m, const Code* c);
// dst = a, and out if a >= b.
const Code* ForStep(Machine& m, const Code* c);
// dst += imm, and back while it is below b.
const Code* NextStep(Machine& m, const Code* c);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_STEPS_H_
