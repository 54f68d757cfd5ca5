// NVIDIA machine code, as far as its mix tells. The encoding is not documented:
// opcodes, widths and offsets of branches are what NVRTC emits for texts whose
// instructions are known (sass_test.cc).
#ifndef TILEWRIGHT_BENCH_GPU_SASS_H_
#define TILEWRIGHT_BENCH_GPU_SASS_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/gpu/instruction_mix.h"

namespace tilewright::cuda {

// The instructions of one function. `architecture`: 75 for sm_75, ...
// InvalidArgument unless the code is whole instructions that end in the jump to
// itself that closes every function: then it is not what it was taken for.
absl::StatusOr<std::vector<DecodedInstruction>> DecodeSass(
    std::string_view code, int architecture);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BENCH_GPU_SASS_H_
