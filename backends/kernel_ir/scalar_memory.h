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

struct Memory {
  const ScalarBuffer* buffer;
  char* data;
  bool tracked;                  // outputs and scratch
  std::vector<int32_t> written;  // per element: 1 + number of the task in this
                                 // run that wrote it last, 0 never
};

struct FullMachine : Machine {
  std::vector<Memory> memory;
  int32_t task_mark = 0;  // 1 + number of the running task in this run
  const AccessCallback* on_access = nullptr;
  int64_t undefined_integer = 0;
  absl::Status status;
};

// Of an i64 or i32 register.
int64_t ReadIndex(const Machine& m, int32_t at, DType dtype);

// For a load: dst; a: other; b: offset; c: mask; aux: buffer. For a store: a:
// value. `narrow`: fp16 or bf16 in memory.
Step LoadStepFor(bool narrow);
Step StoreStepFor(bool narrow);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_MEMORY_H_
