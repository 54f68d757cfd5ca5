// The emulator's modules: shared objects as backends/cpu/kernel_abi.h says,
// with a function tw_run_NAME of type cpu::KernelFunction for each kernel NAME.
// A task is a block; `scratch` is its shared memory.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_

#include <cstdint>

namespace tilewright::emulator {

inline constexpr char kRunPrefix[] = "tw_run_";
// It fills the shared memory of each block with NaN; where it finds a mistake,
// it returns, beside cpu::KernelStatus:
enum Mistake : int32_t {
  kAccessOutside = 2,  // of a buffer; it was not made
  kRace = 3,           // two threads, one element, one of them writes
  kUnwritten = 4,      // shared memory that no thread has written is read
  kParted = 5,         // threads wait for each other at different places
  kMisaligned = 6,     // a vector begins at no multiple of its size
  kLostWait = 7,       // an element is touched that a thread copies
                       // asynchronously and has not waited for
};
// All but kParted by checked modules only.

// The calling thread's last mistake. Lines are of the module's text, from 1; 0:
// not known.
struct Report {
  int64_t mistake, line, block;
  int64_t thread;           // of the block; -1: the kernel has none
  int64_t index, elements;  // which element, of how many
  // In a race or lost wait: whether the thread writes, and whether the other
  // one did. Another line is 0 for a thread that has ended.
  int64_t writes, wrote, other_line, other_block, other_thread;
};
inline constexpr char kReportSymbol[] = "tw_last_report";
using ReportFunction = const Report* (*)();

// The text of the kernels, a string.
inline constexpr char kTextSymbol[] = "tw_text";

// Modules' targets: this and the name of a dialect.
inline constexpr char kTargetPrefix[] = "emulator:";

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_
