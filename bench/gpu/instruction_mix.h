// What the loops of a kernel's machine code consist of, whoever made the GPU:
// sass.h and gcn.h decode it.
#ifndef TILEWRIGHT_BENCH_GPU_INSTRUCTION_MIX_H_
#define TILEWRIGHT_BENCH_GPU_INSTRUCTION_MIX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tilewright {

// Numbers of instructions.
struct InstructionMix {
  int64_t all = 0;                  // but those that do nothing
  int64_t fma = 0;                  // multiply-adds of fp32
  int64_t packed_fma = 0;           // of them, of two elements at once
  int64_t shared_loads = 0;         // from shared memory
  int64_t narrow_shared_loads = 0;  // of them, of less than 16 bytes
  int64_t local = 0;                // loads and stores of a thread's own memory

  double fma_share() const {
    return all > 0 ? static_cast<double>(fma) / static_cast<double>(all) : 0;
  }
  void operator+=(const InstructionMix& other);
};

struct DecodedInstruction {
  static constexpr int64_t kNoJump = -1;
  InstructionMix mix;  // of this one alone
  int64_t target = kNoJump;
};

struct MachineLoop {
  int64_t first = 0, last = 0;  // positions of instructions; `last` jumps back
  InstructionMix mix;           // of everything between them
};

// As they end.
std::vector<MachineLoop> LoopsOf(absl::Span<const DecodedInstruction> code);

// Of the whole function.
InstructionMix MixOf(absl::Span<const DecodedInstruction> code);

// Where its multiply-adds are: of the loops without loops inside them the one
// with the most, or the whole function if it has more outside of loops.
InstructionMix HotMix(absl::Span<const DecodedInstruction> code);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_GPU_INSTRUCTION_MIX_H_
