// Kernel IR, scalar tier: loops, fixed-width vectors, masked access.
// Three-address code over typed registers (scalar_inst.h); what a backend
// prints.
//
// A kernel may have threads: a task is then a block of them, which run the same
// body with a number of their own and share scratch. Between two barriers no
// thread may touch an element of scratch or of an output that another writes.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_IR_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_IR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/kernel_ir/scalar_inst.h"
#include "backends/kernel_ir/tile_ir.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::kernel_ir {

// One buffer of the kernel: arguments first, in order; then scratch, at fixed
// byte offsets of an arena. That is a task's: with threads, a block's. Scratch
// `per_thread` is not in it: each thread has its own.
struct ScalarBuffer {
  std::string name;
  DType dtype;
  Role role;
  int64_t elements;                   // physical
  int64_t scratch_offset_bytes = -1;  // kLocal only; multiple of 64
  std::optional<bool> streamed = {};  // of the tile tier's buffer
  bool per_thread = false;            // kLocal only
  int64_t versions = 1;  // equal parts that steps of a loop use in turn
};

// Run for every task in [task_begin, task_end); `task` holds its number at the
// start of `body`. In a kernel with threads each of them runs it, and `thread`
// holds its number within the block. Lane i of warp j is thread j * warp + i.
struct ScalarKernel {
  std::string name;
  std::vector<ScalarBuffer> buffers;
  std::vector<RegType> regs;
  Reg task;
  int64_t num_tasks = 1;
  int64_t scratch_bytes = 0;
  std::vector<Inst> body;
  Reg thread = kNoReg;  // kNoReg: a kernel without threads
  int threads = 1;      // of a block
  int warp = 1;         // of which so many exchange registers; a power of two

  bool has_threads() const { return thread != kNoReg; }

  std::string ToString() const;
};

// Ok, or Internal with the instruction: a register used before it is set on
// some path, dtypes or lanes that do not fit, a value assigned twice, a buffer
// or constant offset out of range, a store to an input; a barrier, exchange,
// commit or wait that not all threads of a block are sure to reach; a copy that
// may not be asynchronous. Whether what was copied is waited for:
// verify_waits.h.
absl::Status VerifyScalarKernel(const ScalarKernel& kernel);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_IR_H_
