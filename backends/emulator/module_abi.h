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

// What the accesses at one place of the text did in the calling thread's last
// launch; warps are of 32 lanes.
struct PlaceCount {
  int64_t line, column;   // from 1
  int64_t argument;       // -1: the block's scratch
  int64_t scratch_bytes;  // where the buffer begins in it
  int64_t accesses;       // of a warp
  // Of an argument: distinct sectors of 32 bytes in each access, the fewest
  // that hold as many bytes, and those that a block had not touched before.
  int64_t sectors, least_sectors, block_sectors;
  // Of scratch: turns of the banks, and without conflicts.
  int64_t turns, least_turns;
};
// Of modules that count: gives all, in no order, and forgets them.
inline constexpr char kCountsSymbol[] = "tw_take_counts";
using CountsFunction = void (*)(void (*take)(void* context, const PlaceCount*),
                                void* context);

// The text of the kernels, a string.
inline constexpr char kTextSymbol[] = "tw_text";

// Modules' targets: this and the name of a dialect.
inline constexpr char kTargetPrefix[] = "emulator:";

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_MODULE_ABI_H_
