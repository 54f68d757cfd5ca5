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
  int32_t copied_by = -1;     // the thread, and has not waited for it
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

// What a thread has copied asynchronously and not waited for.
struct Flight {
  const Code* code;
  int64_t first;            // element of the buffer that it goes to
  std::vector<char> bytes;  // empty: zeros
};
struct Flights {
  std::vector<std::vector<Flight>> groups;
  std::vector<Flight> open;  // of no group yet
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
  Flights* flights = nullptr;     // the thread's
};

// Reads an i64 or i32 register.
int64_t ReadIndex(const Machine& m, int32_t at, DType dtype);

// First element of an access: b: offset of dtype operand_dtype; imm: constant.
int64_t FirstElement(const Machine& m, const Code* c);
// Ends the run: an access outside.
const Code* Stop(FullMachine& m, const Code* c, int64_t element,
                 const char* what);
// Notes that the running thread writes an element of buffer `aux`. Null after a
// race, which is then the machine's status.
const Code* TouchToWrite(FullMachine& m, const Code* c, int64_t element);

// For a load: dst; a: other; b: offset; c: mask; aux: buffer. For a store: a:
// value. `narrow`: fp16 or bf16 in memory. `threads`: of a kernel that has
// them, where accesses are checked for races.
Step LoadStepFor(bool narrow, bool threads);
Step StoreStepFor(bool narrow, bool threads);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_MEMORY_H_
