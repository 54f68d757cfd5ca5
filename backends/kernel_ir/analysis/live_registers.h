// How many registers of 32 bits the values of a kernel need at the same time,
// if a compiler recomputes nothing and moves nothing but loads.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LIVE_REGISTERS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LIVE_REGISTERS_H_

#include <cstdint>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

// The most at one place of the text, of one thread; in time proportional to it.
// A value counts from where it is set to where it is last read, or to the end
// of the outermost loop around that which it was not set in; a variable that
// begins as a constant from where it is next mentioned. Constants, bools
// (predicates) and what only names parts of other values (splats, lanes,
// shuffles) take none; indices one. What dies makes room for what is made of
// it. In an innermost loop that is laid out several times, some of the loads of
// later turns from shared memory come on top.
struct RegisterNeeds {
  int64_t live = 0;
  // With the loads of all turns of an innermost loop ahead of the first, in the
  // loop where that is the most; 0 if no such loop loads anything.
  int64_t with_loads = 0;
};
RegisterNeeds LiveRegisters(const ScalarKernel& kernel);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LIVE_REGISTERS_H_
