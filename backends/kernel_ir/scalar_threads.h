// Internal to the scalar interpreter: the threads of a block, one after the
// other from barrier to barrier.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_THREADS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_THREADS_H_

#include <cstdint>
#include <vector>

#include "backends/kernel_ir/scalar_code.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/scalar_memory.h"

namespace tilewright::kernel_ir::internal {

// Both end a thread's turn, and leave `stopped` in the machine. An exchange:
// dst; a: source; b: lane or -1; aux: lane_xor; imm: bytes of the register.
const Code* BarrierStep(Machine& m, const Code* c);
const Code* ExchangeStep(Machine& m, const Code* c);

class Block {
 public:
  // `registers`: of a thread before its first instruction; the task's and the
  // thread's number are at `task_at` and `thread_at`. The machine's memory is
  // complete. All outlive the block.
  Block(const ScalarKernel& kernel, FullMachine& machine,
        const std::vector<char>& registers, int32_t task_at, int32_t thread_at);

  // Runs a task. The machine's status says whether that went well, and its
  // thread, if not, which was running.
  void Run(const Code* entry, int64_t task);

 private:
  char* file(int thread) { return &files_[thread * file_bytes_]; }
  // Makes the machine that thread.
  void Enter(int thread);
  void Exchange(const Code& exchange);

  const ScalarKernel& k_;
  FullMachine& m_;
  const int64_t file_bytes_;
  const int32_t task_at_, thread_at_;
  std::vector<char> files_;       // registers, by thread
  std::vector<char> passed_;      // what an exchange gives, by thread
  std::vector<Flights> flights_;  // by thread
};

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_THREADS_H_
