// A pass on the scalar tier, for threads of a GPU: loads of neighbours become
// one of 16 bytes.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_PASSES_JOIN_LOADS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_PASSES_JOIN_LOADS_H_

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::lowering {

// Where loads without masks, at constant distances from one register, read all
// of some 16 bytes (or else 8) at a multiple of that size, these are loaded
// once, before the first of them, and the loads take their lanes. Nothing else
// is read. Loads join within one body, as long as nothing is stored or copied to
// the buffer and no barrier, wait, loop or branch stands between them.
void JoinLoads(kernel_ir::ScalarKernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_PASSES_JOIN_LOADS_H_
