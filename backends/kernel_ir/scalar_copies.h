// Internal to the scalar interpreter: asynchronous copies. They land where the
// thread waits for them, as late as they may; until then an element that is
// touched is an error.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_COPIES_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_COPIES_H_

#include "backends/kernel_ir/scalar_code.h"
#include "backends/kernel_ir/scalar_memory.h"

namespace tilewright::kernel_ir::internal {

// aux: buffer; b: offset; imm: constant offset; c: mask. The code behind it is
// the same of where it is from.
const Code* AsyncCopyStep(Machine& m, const Code* c);
const Code* CommitStep(Machine& m, const Code* c);
// imm: groups that may stay under way.
const Code* WaitStep(Machine& m, const Code* c);

// Forgets what nobody has waited for: a block has ended.
void DropFlights(FullMachine& m, Flights& flights);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_COPIES_H_
