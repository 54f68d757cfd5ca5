#include "bench/gpu/gcn.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

namespace tilewright::hip {
namespace {

constexpr char kTriple[] = "amdgcn-amd-amdhsa";
constexpr size_t kLongestText = 256;
constexpr int64_t kSixteenBytes = 16;

struct DisposeDisassembler {
  void operator()(void* context) const { LLVMDisasmDispose(context); }
};
using Disassembler = std::unique_ptr<void, DisposeDisassembler>;

// LLVM ends the process at architectures that it cannot disassemble.
bool Knows(const std::string& architecture) {
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return false;
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(kTriple, "", ""));
  return subtarget != nullptr && subtarget->isCPUStringValid(architecture);
}

// Null if LLVM does not know the architecture.
Disassembler DisassemblerFor(const std::string& architecture) {
  [[maybe_unused]] static const bool initialized = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  if (!Knows(architecture)) return nullptr;
  return Disassembler(LLVMCreateDisasmCPU(kTriple, architecture.c_str(),
                                          nullptr, 0, nullptr, nullptr));
}

// Bytes that a load from shared memory brings a lane: of "ds_read_b64" 8, of
// "ds_read2st64_b32" two times 4.
int64_t SharedLoadBytes(const std::string& mnemonic) {
  const size_t bits = mnemonic.find_last_of("biu");
  const int64_t bytes =
      bits == std::string::npos
          ? 0
          : std::strtoll(mnemonic.c_str() + bits + 1, nullptr, 10) / 8;
  return absl::StartsWith(mnemonic, "ds_read2") ? 2 * bytes : bytes;
}

InstructionMix MixOf(const std::string& mnemonic) {
  const auto is = [&](const char* prefix) {
    return absl::StartsWith(mnemonic, prefix);
  };
  InstructionMix mix;
  mix.all = !is("s_nop") && !is("s_waitcnt");
  mix.packed_fma = is("v_pk_fma_f32");
  // v_fma, v_fmac, v_fmaak, v_fmamk.
  mix.fma =
      mix.packed_fma + (is("v_fma") && absl::StrContains(mnemonic, "_f32"));
  mix.shared_loads = is("ds_read");
  mix.narrow_shared_loads =
      mix.shared_loads && SharedLoadBytes(mnemonic) < kSixteenBytes;
  mix.local = is("buffer_load") || is("buffer_store") || is("scratch_load") ||
              is("scratch_store");
  return mix;
}

// Of a branch, in units of four bytes from the instruction behind it.
int64_t OffsetOf(const std::string& operand) {
  return static_cast<int16_t>(std::strtol(operand.c_str(), nullptr, 0));
}

}  // namespace

absl::StatusOr<std::vector<DecodedInstruction>> DecodeGcn(
    std::string_view code, const std::string& architecture) {
  const Disassembler disassembler = DisassemblerFor(architecture);
  if (disassembler == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM does not know ", architecture));
  std::string bytes(code);
  std::vector<DecodedInstruction> decoded;
  std::map<int64_t, int64_t> position;  // by offset in bytes
  std::map<int64_t, int64_t> target;    // offset, by position
  bool ends = false;
  for (size_t at = 0; at < bytes.size();) {
    char text[kLongestText];
    const size_t size = LLVMDisasmInstruction(
        disassembler.get(), reinterpret_cast<uint8_t*>(&bytes[at]),
        bytes.size() - at, at, text, sizeof(text));
    if (size == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("no instruction of ", architecture, " at byte ", at));
    const std::string line(text);
    const size_t begin = line.find_first_not_of(" \t");
    const size_t end = line.find_first_of(" \t", begin);
    const std::string mnemonic = line.substr(begin, end - begin);
    position[static_cast<int64_t>(at)] = static_cast<int64_t>(decoded.size());
    at += size;
    if (absl::StartsWith(mnemonic, "s_cbranch") || mnemonic == "s_branch")
      target[static_cast<int64_t>(decoded.size())] =
          static_cast<int64_t>(at) + 4 * OffsetOf(line.substr(end));
    ends |= mnemonic == "s_endpgm";
    decoded.push_back({MixOf(mnemonic)});
  }
  if (!ends)
    return absl::InvalidArgumentError(
        absl::StrCat("no program of ", architecture));
  for (const auto& [from, offset] : target) {
    const auto to = position.find(offset);
    if (to == position.end())
      return absl::InvalidArgumentError(
          absl::StrCat("instruction ", from, " jumps out of its function"));
    decoded[static_cast<size_t>(from)].target = to->second;
  }
  return decoded;
}

}  // namespace tilewright::hip
