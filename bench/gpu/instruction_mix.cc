#include "bench/gpu/instruction_mix.h"

#include <algorithm>
#include <cstddef>

namespace tilewright {

void InstructionMix::operator+=(const InstructionMix& other) {
  all += other.all;
  fma += other.fma;
  packed_fma += other.packed_fma;
  shared_loads += other.shared_loads;
  narrow_shared_loads += other.narrow_shared_loads;
  local += other.local;
}

InstructionMix MixOf(absl::Span<const DecodedInstruction> code) {
  InstructionMix mix;
  for (const DecodedInstruction& instruction : code) mix += instruction.mix;
  return mix;
}

std::vector<MachineLoop> LoopsOf(absl::Span<const DecodedInstruction> code) {
  std::vector<MachineLoop> loops;
  for (size_t i = 0; i < code.size(); ++i) {
    const auto last = static_cast<int64_t>(i);
    const int64_t target = code[i].target;
    if (target == DecodedInstruction::kNoJump || target >= last) continue;
    loops.push_back(
        {target, last,
         MixOf(code.subspan(static_cast<size_t>(target),
                            static_cast<size_t>(last - target) + 1))});
  }
  return loops;
}

InstructionMix HotMix(absl::Span<const DecodedInstruction> code) {
  const std::vector<MachineLoop> loops = LoopsOf(code);
  const InstructionMix whole = MixOf(code);
  int64_t inside = 0;
  InstructionMix hot;
  for (const MachineLoop& loop : loops) {
    const bool innermost =
        std::none_of(loops.begin(), loops.end(), [&](const MachineLoop& other) {
          return &other != &loop && other.first >= loop.first &&
                 other.last <= loop.last;
        });
    if (!innermost) continue;
    inside += loop.mix.fma;
    if (loop.mix.fma > hot.fma) hot = loop.mix;
  }
  return whole.fma - inside > hot.fma ? whole : hot;
}

}  // namespace tilewright
