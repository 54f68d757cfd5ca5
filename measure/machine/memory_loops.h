// Loops that do nothing but move bytes: what bounds every kernel whose data
// lies that far away.
#ifndef TILEWRIGHT_MEASURE_MACHINE_MEMORY_LOOPS_H_
#define TILEWRIGHT_MEASURE_MACHINE_MEMORY_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::measure {

// Passes once over memory: its bytes are a multiple of 512, its address of 64.
// The result keeps the loop alive.
using MemoryPass = int (*)(char* memory, int64_t bytes);

// Every loop counts each byte that it reads or writes once: all `bytes`.
struct MemoryLoops {
  std::string instructions;  // "AVX-512", "AVX2", "SSE2"
  MemoryPass read = nullptr;
  MemoryPass write = nullptr;
  MemoryPass copy = nullptr;    // the first half to the second
  MemoryPass stream = nullptr;  // the same, past the caches
};

// All that this CPU can run, the widest first.
std::vector<MemoryLoops> AllMemoryLoops();

struct FreeMemory {
  void operator()(char* memory) const { std::free(memory); }
};
// Touched, in huge pages where the system gives them; at least `bytes`.
std::unique_ptr<char, FreeMemory> AllocateTouched(int64_t bytes);

// Walks the lines of 64 bytes of `memory` in a random circle, each load waiting
// for the one before it; Prepare comes first.
void PrepareChase(char* memory, int64_t bytes, uint64_t seed);
const char* Chase(const char* at, int64_t steps);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MACHINE_MEMORY_LOOPS_H_
