// What the kernels of a model do to a GPU's memory: as the emulator counts it,
// beside what the planner expects of the tiles that were generated.
#ifndef TILEWRIGHT_BENCH_GPU_MEMORY_COUNTS_H_
#define TILEWRIGHT_BENCH_GPU_MEMORY_COUNTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/compile.h"

namespace tilewright {

// All accesses of a kernel to a tensor in one memory. Units are sectors of 32
// bytes, or turns of the banks.
struct MemoryRow {
  std::string kernel, tensor;
  bool shared = false;
  int64_t accesses = 0;  // of warps
  double counted = 0;
  double planned = 0;        // that warps ask for
  double costed = 0;         // what the plan's cost is made of
  double least = 0;          // of as many accesses without waste
  double block_sectors = 0;  // of memory: each once a block
  // Whether `with` is within 5 % of what was counted.
  bool agrees(double with) const;
};

struct MemoryCounts {
  std::vector<MemoryRow> rows;        // kernel by kernel, by label
  std::string lines;                  // of the texts that waste, for people
  std::vector<std::string> left_out;  // labels
};

// All distinct kernels of threads that the planner has tiles of, but those
// whose plans expect more than `most` sectors and turns. Arguments are zeros:
// indices that are data are all 0. REQUIRES: compiled.gpu; the errors are the
// emulator's.
absl::StatusOr<MemoryCounts> CountMemory(const CompiledModel& compiled,
                                         double most);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_GPU_MEMORY_COUNTS_H_
