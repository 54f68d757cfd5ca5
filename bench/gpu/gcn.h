// Machine code of AMD's GPUs, as far as its mix tells, by LLVM's disassembler
// (LLVM 19 knows gfx906, gfx90a, gfx942). Instructions are told apart by their
// mnemonics (AMD, "Instinct MI200 Instruction Set Architecture").
#ifndef TILEWRIGHT_BENCH_GPU_GCN_H_
#define TILEWRIGHT_BENCH_GPU_GCN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/gpu/instruction_mix.h"

namespace tilewright::hip {

// The instructions of one function for `architecture` ("gfx90a"). What only
// waits (s_nop, s_waitcnt) counts as nothing; a thread's own memory is what
// buffer and scratch instructions touch: kernels reach their arguments by
// global and flat ones. InvalidArgument if LLVM does not know the architecture,
// or something is no instruction of it, or nothing ends the program.
absl::StatusOr<std::vector<DecodedInstruction>> DecodeGcn(
    std::string_view code, const std::string& architecture);

}  // namespace tilewright::hip

#endif  // TILEWRIGHT_BENCH_GPU_GCN_H_
