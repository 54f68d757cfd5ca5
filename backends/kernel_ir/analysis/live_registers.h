// How many registers of 32 bits the values of a kernel need at the same time,
// if a compiler recomputes nothing and moves nothing but loads.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LIVE_REGISTERS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LIVE_REGISTERS_H_

#include <cstdint>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

// The most at one place of the text, of one thread. A value is live from where
// it is set to where it is last read on some way from there, or all through a
// loop that reads it turn by turn; a variable that is a constant on all ways to
// a place, from where it is next mentioned. Constants, bools (predicates) and
// what only names parts of other values (splats, lanes, shuffles) take none;
// indices one. What dies makes room for what is made of it.
//
// Loads move between barriers, loops and branches, those of shared memory not
// past stores to it.
struct RegisterNeeds {
  // Each load as late as it may be: where it is first read.
  int64_t live = 0;
  // Each as early, and with it, of an innermost loop, those of all turns that
  // are unrolled together: as told, or where nothing is said as many as NVRTC
  // 13.0 chooses. At least `live`.
  int64_t with_loads = 0;
};
// In time proportional to the text, but for sorting.
RegisterNeeds LiveRegisters(const ScalarKernel& kernel);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LIVE_REGISTERS_H_
