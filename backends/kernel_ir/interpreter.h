// One interpreter per tier. They check every access: a load or store outside a
// buffer is an error, and so is a second task's store to an element of an
// output. Elements of locals and outputs that this task has not written yet are
// undefined: reading one is an error of the tile tier; the scalar tier, where
// loads may be speculated, gives NaN (a wild number for integers), which spoils
// all that comes of it.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_INTERPRETER_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_INTERPRETER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::kernel_ir {

// `args`: the physical bytes of each argument buffer, in order; outputs are
// written in place. Arithmetic is the kernels' own: every float operation
// rounds to its dtype (f32 for fp16 and bf16). OutOfRange names statement,
// buffer and offset.
absl::Status InterpretTileKernel(const Kernel& kernel,
                                 absl::Span<std::string> args);

// `on_access`, if set, sees every memory access of arguments and scratch (for
// the cache simulator), but not of what threads have for themselves.
//
// The threads of a block run one after the other from barrier to barrier. Two
// that touch one element of scratch or of an output in between, one of them
// writing it, are a race: Aborted names instruction, buffer, element and both
// threads; so are two blocks that touch one of an output. A read of a block's
// scratch that no thread of it has written is FailedPrecondition. Asynchronous
// copies land where their thread waits for them: who touches an element before
// has lost a wait, which is DataLoss.
using AccessCallback = std::function<void(int buffer, int64_t offset_bytes,
                                          int64_t size_bytes, bool is_store)>;
// `undefined_integer`: what loads of integers that are undefined give.
inline constexpr int64_t kWildInteger = 0x5a5a5a5a5a5a5a5a;
absl::Status InterpretScalarKernel(const ScalarKernel& kernel,
                                   absl::Span<std::string> args,
                                   int64_t task_begin, int64_t task_end,
                                   const AccessCallback& on_access = nullptr,
                                   int64_t undefined_integer = kWildInteger);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_INTERPRETER_H_
