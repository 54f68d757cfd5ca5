#include "backends/kernel_ir/scalar_threads.h"

#include <cstring>

#include "backends/kernel_ir/scalar_copies.h"
#include "backends/kernel_ir/scalar_steps.h"
#include "base/check.h"

namespace tilewright::kernel_ir::internal {

const Code* BarrierStep(Machine& m, const Code* c) {
  static_cast<FullMachine&>(m).stopped = c;
  return nullptr;
}

const Code* ExchangeStep(Machine& m, const Code* c) {
  static_cast<FullMachine&>(m).stopped = c;
  return nullptr;
}

Block::Block(const ScalarKernel& kernel, FullMachine& machine,
             const std::vector<char>& registers, int32_t task_at,
             int32_t thread_at)
    : k_(kernel),
      m_(machine),
      file_bytes_(static_cast<int64_t>(registers.size())),
      task_at_(task_at),
      thread_at_(thread_at),
      flights_(kernel.threads) {
  for (int i = 0; i < kernel.threads; ++i)
    files_.insert(files_.end(), registers.begin(), registers.end());
}

void Block::Enter(int thread) {
  m_.thread = thread;
  m_.regs = file(thread);
  m_.stopped = nullptr;
  m_.flights = &flights_[thread];
  for (Memory& memory : m_.memory) {
    if (!memory.buffer->per_thread) continue;
    const int64_t elements = memory.buffer->elements;
    memory.data = memory.storage.data() +
                  thread * elements * SizeBytes(memory.buffer->dtype);
    memory.written = memory.marks.data() + thread * elements;
  }
}

void Block::Exchange(const Code& exchange) {
  const auto bytes = static_cast<size_t>(exchange.imm);
  passed_.resize(k_.threads * bytes);
  for (int thread = 0; thread < k_.threads; ++thread) {
    const int lane = thread % k_.warp;
    int from = lane ^ exchange.aux;
    if (exchange.b >= 0) {
      const Machine reader = {file(thread)};
      const int64_t wanted =
          ReadIndex(reader, exchange.b, exchange.operand_dtype);
      from = static_cast<int>(wanted & (k_.warp - 1));
    }
    std::memcpy(&passed_[thread * bytes],
                file(thread - lane + from) + exchange.a, bytes);
  }
  for (int thread = 0; thread < k_.threads; ++thread)
    std::memcpy(file(thread) + exchange.dst, &passed_[thread * bytes], bytes);
}

void Block::Run(const Code* entry, int64_t task) {
  for (int thread = 0; thread < k_.threads; ++thread) {
    m_.regs = file(thread);
    WriteIndex(m_, task_at_, k_.regs[k_.task].dtype, task);
    WriteIndex(m_, thread_at_, k_.regs[k_.thread].dtype, thread);
  }
  for (Flights& flights : flights_) DropFlights(m_, flights);
  ++m_.epoch;
  while (entry != nullptr) {
    const Code* stopped = nullptr;
    for (int thread = 0; thread < k_.threads; ++thread) {
      Enter(thread);
      for (const Code* c = entry; c != nullptr;) c = c->step(m_, c);
      if (!m_.status.ok()) return;
      // The verifier saw to it.
      TW_CHECK(thread == 0 || stopped == m_.stopped)
          << "threads of kernel " << k_.name << " parted";
      stopped = m_.stopped;
    }
    if (stopped == nullptr) return;
    if (stopped->step == BarrierStep) {
      ++m_.epoch;
    } else {
      Exchange(*stopped);
    }
    entry = stopped + 1;
  }
}

}  // namespace tilewright::kernel_ir::internal
