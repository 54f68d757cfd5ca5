// Internal to the scalar interpreter: memory and the instructions that touch
// it.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_MEMORY_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_code.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir::internal {

// The last accesses of an element by threads of a block: an epoch is what lies
// between two barriers.
struct Touched {
  int64_t written_in = 0, read_in = 0;  // epochs; 0: never
  int32_t writer = 0, reader = 0;
  int32_t other_reader = -1;  // in the same epoch
};

struct Memory {
  const ScalarBuffer* buffer;
  char* data;
  bool tracked;  // outputs and scratch
  // Per element of tracked memory: 1 + number of the task in this run that
  // wrote it last, 0 never.
  int32_t* written = nullptr;
  std::vector<int32_t> marks;    // where `written` points
  std::vector<char> storage;     // of buffers per thread
  std::vector<Touched> touched;  // of what threads share and write
};

struct FullMachine : Machine {
  std::vector<Memory> memory;
  int32_t task_mark = 0;  // 1 + number of the running task in this run
  const AccessCallback* on_access = nullptr;
  int64_t undefined_integer = 0;
  absl::Status status;
  // Set in kernels with threads.
  int32_t thread = 0;
  int64_t epoch = 0;
  const Code* stopped = nullptr;  // the barrier or exchange that waits
};

// Reads an i64 or i32 register.
int64_t ReadIndex(const Machine& m, int32_t at, DType dtype);

// For a load: dst; a: other; b: offset; c: mask; aux: buffer. For a store: a:
// value. `narrow`: fp16 or bf16 in memory. `threads`: of a kernel that has
// them, where accesses are checked for races.
Step LoadStepFor(bool narrow, bool threads);
Step StoreStepFor(bool narrow, bool threads);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_MEMORY_H_
