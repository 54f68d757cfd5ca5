// What loops of NVIDIA machine code consist of. The encoding is not documented:
// opcodes, widths and offsets of branches are what NVRTC emits for texts whose
// instructions are known (sass_test.cc).
#ifndef TILEWRIGHT_BENCH_GPU_SASS_H_
#define TILEWRIGHT_BENCH_GPU_SASS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::cuda {

// Numbers of instructions.
struct SassMix {
  int64_t all = 0;                  // but those that do nothing
  int64_t fma = 0;                  // multiply-adds of fp32
  int64_t shared_loads = 0;         // from shared memory
  int64_t narrow_shared_loads = 0;  // of them, of less than 16 bytes
  int64_t local = 0;                // loads and stores of a thread's own memory

  double fma_share() const {
    return all > 0 ? static_cast<double>(fma) / static_cast<double>(all) : 0;
  }
};

struct SassLoop {
  int64_t first = 0, last = 0;  // positions of instructions; `last` jumps back
  SassMix mix;                  // of everything between them
};

// The loops of one function, as they end. `architecture`: 75 for sm_75, ...
// InvalidArgument unless the code is whole instructions that end in the jump to
// itself that closes every function: then it is not what it was taken for.
absl::StatusOr<std::vector<SassLoop>> SassLoops(std::string_view code,
                                                int architecture);

// Of the whole function.
SassMix MixOf(std::string_view code);

// Where its multiply-adds are: of the loops without loops inside them the one
// with the most, or the whole function if it has more outside of loops.
absl::StatusOr<SassMix> HotMix(std::string_view code, int architecture);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BENCH_GPU_SASS_H_
