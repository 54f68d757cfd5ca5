#include "bench/gpu/sass.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tilewright::cuda {
namespace {

constexpr size_t kInstructionBytes = 16;
// The low twelve bits of an instruction; those above the low nine say where its
// operands come from.
constexpr uint64_t kFma = 0x023, kForm = 0x1ff;
constexpr uint64_t kSharedLoad = 0x984, kJump = 0x947, kNothing = 0x918;
constexpr uint64_t kLocalLoad = 0x983, kLocalStore = 0x387;
constexpr uint64_t kSixteenBytes = 6;
// From this one on, eight bits of an offset lie apart from the others.
constexpr int kSplitOffsets = 90;

struct Instruction {
  uint64_t low, high;

  uint64_t opcode() const { return low & 0xfff; }
  uint64_t width() const { return high >> 9 & 7; }
  // Of a jump, in instructions, from the one behind it.
  int64_t offset(int architecture) const {
    // 48 bits from the 34th on, in units of four bytes or of 256 times that.
    const uint64_t bits = low >> 34 | (high & 0x3ffff) << 30;
    int64_t words = static_cast<int64_t>(bits << 16) >> 16;
    if (architecture >= kSplitOffsets)
      words = words * 256 + static_cast<int64_t>(low >> 16 & 0xff);
    return words * 4 / static_cast<int64_t>(kInstructionBytes);
  }
};

Instruction At(std::string_view code, int64_t position) {
  Instruction instruction;
  std::memcpy(&instruction,
              code.data() + static_cast<size_t>(position) * kInstructionBytes,
              kInstructionBytes);
  return instruction;
}

int64_t Count(std::string_view code) {
  return static_cast<int64_t>(code.size() / kInstructionBytes);
}

InstructionMix MixOf(const Instruction& instruction) {
  const uint64_t opcode = instruction.opcode();
  InstructionMix mix;
  mix.all = opcode != kNothing;
  mix.fma = (opcode & kForm) == kFma;
  mix.local = opcode == kLocalLoad || opcode == kLocalStore;
  mix.shared_loads = opcode == kSharedLoad;
  mix.narrow_shared_loads =
      opcode == kSharedLoad && instruction.width() != kSixteenBytes;
  return mix;
}

}  // namespace

absl::StatusOr<std::vector<DecodedInstruction>> DecodeSass(
    std::string_view code, int architecture) {
  std::vector<DecodedInstruction> decoded;
  bool closed = false;
  for (int64_t i = 0; i < Count(code); ++i) {
    const Instruction instruction = At(code, i);
    decoded.push_back({MixOf(instruction)});
    if (instruction.opcode() != kJump) continue;
    const int64_t target = i + 1 + instruction.offset(architecture);
    if (target < 0 || target >= Count(code))
      return absl::InvalidArgumentError(
          absl::StrCat("instruction ", i, " jumps out of its function"));
    closed |= target == i;
    decoded.back().target = target;
  }
  if (!closed || code.size() % kInstructionBytes != 0)
    return absl::InvalidArgumentError(
        absl::StrCat("no code as of sm_", architecture));
  return decoded;
}

}  // namespace tilewright::cuda
