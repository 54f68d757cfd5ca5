#include "backends/kernel_ir/scalar_memory.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace tilewright::kernel_ir::internal {
namespace {

// The value of memory that this task has not written. Loads of it are legal as
// long as nothing comes of them: padded lanes, and the side of a select that is
// not taken.
Scalar Undefined(const FullMachine& m) {
  return {std::numeric_limits<double>::quiet_NaN(), m.undefined_integer};
}

const Code* Race(FullMachine& m, const Code* c, int64_t element,
                 const char* does, int32_t other, const char* did) {
  m.status = absl::AbortedError(absl::StrCat(
      "instruction ", c->position, ": race: thread ", m.thread, " ", does,
      " element ", element, " of buffer ", m.memory[c->aux].buffer->name,
      ", which thread ", other, " ", did, " without a barrier between"));
  return nullptr;
}

const Code* RaceOfBlocks(FullMachine& m, const Code* c, int64_t element,
                         const char* does) {
  m.status = absl::AbortedError(absl::StrCat(
      "instruction ", c->position, ": race: thread ", m.thread, " ", does,
      " element ", element, " of buffer ", m.memory[c->aux].buffer->name,
      ", which another block writes"));
  return nullptr;
}

// Whether an element of an output was written by a task before.
bool IsAnotherBlocks(const FullMachine& m, const Memory& memory,
                     int64_t element) {
  return memory.buffer->role == Role::kOutput && memory.written[element] != 0 &&
         memory.written[element] != m.task_mark;
}

const Code* LostWait(FullMachine& m, const Code* c, int64_t element,
                     const char* does, int32_t other) {
  m.status = absl::DataLossError(absl::StrCat(
      "instruction ", c->position, ": lost wait: thread ", m.thread, " ", does,
      " element ", element, " of buffer ", m.memory[c->aux].buffer->name,
      ", which thread ", other, " copies and has not waited for"));
  return nullptr;
}

// Null after a race, which is then the machine's status.
const Code* TouchToRead(FullMachine& m, const Code* c, int64_t element) {
  Memory& memory = m.memory[c->aux];
  if (!memory.touched.empty() && memory.touched[element].copied_by >= 0)
    return LostWait(m, c, element, "reads", memory.touched[element].copied_by);
  if (memory.buffer->role == Role::kLocal && !memory.buffer->per_thread &&
      memory.written[element] != m.task_mark) {
    m.status = absl::FailedPreconditionError(
        absl::StrCat("instruction ", c->position, ": thread ", m.thread,
                     " reads element ", element, " of buffer ",
                     memory.buffer->name, ", which no thread has written"));
    return nullptr;
  }
  if (memory.touched.empty()) return c;
  if (IsAnotherBlocks(m, memory, element))
    return RaceOfBlocks(m, c, element, "reads");
  Touched& t = memory.touched[element];
  if (t.written_in == m.epoch && t.writer != m.thread)
    return Race(m, c, element, "reads", t.writer, "writes");
  if (t.read_in != m.epoch) {
    t.read_in = m.epoch;
    t.reader = m.thread;
    t.other_reader = -1;
  } else if (t.reader != m.thread) {
    t.other_reader = m.thread;
  }
  return c;
}

}  // namespace

const Code* Stop(FullMachine& m, const Code* c, int64_t element,
                 const char* what) {
  const ScalarBuffer& b = *m.memory[c->aux].buffer;
  m.status = absl::OutOfRangeError(
      absl::StrCat("instruction ", c->position, ": ", what, " element ",
                   element, " of buffer ", b.name, ", which has ", b.elements));
  return nullptr;
}

const Code* TouchToWrite(FullMachine& m, const Code* c, int64_t element) {
  Memory& memory = m.memory[c->aux];
  if (memory.touched.empty()) return c;
  if (IsAnotherBlocks(m, memory, element))
    return RaceOfBlocks(m, c, element, "writes");
  Touched& t = memory.touched[element];
  if (t.copied_by >= 0) return LostWait(m, c, element, "writes", t.copied_by);
  if (t.written_in == m.epoch && t.writer != m.thread)
    return Race(m, c, element, "writes", t.writer, "writes");
  if (t.read_in == m.epoch && t.reader != m.thread)
    return Race(m, c, element, "writes", t.reader, "reads");
  if (t.read_in == m.epoch && t.other_reader >= 0)
    return Race(m, c, element, "writes", t.other_reader, "reads");
  t.written_in = m.epoch;
  t.writer = m.thread;
  return c;
}

int64_t FirstElement(const Machine& m, const Code* c) {
  return c->imm + (c->b < 0 ? 0 : ReadIndex(m, c->b, c->operand_dtype));
}

namespace {

bool LaneIsOn(const Machine& m, const Code* c, int lane) {
  return lane < c->active &&
         (c->c < 0 || m.regs[c->c + (c->scalar_mask ? 0 : lane)] != 0);
}

// dst; a: other; b: offset; c: mask; aux: buffer.
template <bool kNarrow, bool kThreads>  // narrow: fp16 or bf16 in memory
const Code* LoadStep(Machine& machine, const Code* c) {
  FullMachine& m = static_cast<FullMachine&>(machine);
  Memory& mem = m.memory[c->aux];
  const int64_t first = FirstElement(m, c);
  const int64_t elements = mem.buffer->elements;
  // Without conversion the register's type may be another of the same size.
  const DType dtype = kNarrow ? mem.buffer->dtype : c->dtype;
  const int64_t size = SizeBytes(dtype);
  char* dst = m.regs + c->dst;
  if (!kNarrow && c->c < 0 && c->active == c->lanes) {
    if (first < 0 || first + c->lanes > elements)
      return Stop(m, c, first < 0 ? first : elements, "load of");
    if (c->lanes == 1 && size == 4) {
      std::memcpy(dst, mem.data + first * 4, 4);
    } else {
      std::memcpy(dst, mem.data + first * size, c->lanes * size);
    }
    if (mem.tracked) {
      for (int i = 0; i < c->lanes; ++i) {
        if (kThreads && TouchToRead(m, c, first + i) == nullptr) return nullptr;
        if (mem.written[first + i] != m.task_mark)
          WriteLane(dst, dtype, i, Undefined(m));
      }
    }
    if (m.on_access != nullptr && !mem.buffer->per_thread)
      (*m.on_access)(c->aux, first * size, c->lanes * size, false);
    return c + 1;
  }
  for (int i = 0; i < c->lanes; ++i) {
    if (!LaneIsOn(m, c, i)) {
      WriteLane(dst, c->dtype, i,
                c->a < 0 ? Scalar{} : ReadLane(m.regs + c->a, c->dtype, i));
      continue;
    }
    if (first + i < 0 || first + i >= elements)
      return Stop(m, c, first + i, "load of");
    if (kThreads && mem.tracked && TouchToRead(m, c, first + i) == nullptr)
      return nullptr;
    const bool defined = !mem.tracked || mem.written[first + i] == m.task_mark;
    WriteLane(dst, c->dtype, i,
              defined ? ReadLane(mem.data + (first + i) * size, dtype, 0)
                      : Undefined(m));
    if (m.on_access != nullptr && !mem.buffer->per_thread)
      (*m.on_access)(c->aux, (first + i) * size, size, false);
  }
  return c + 1;
}

// a: value; b: offset; c: mask; aux: buffer.
template <bool kNarrow, bool kThreads>
const Code* StoreStep(Machine& machine, const Code* c) {
  FullMachine& m = static_cast<FullMachine&>(machine);
  Memory& mem = m.memory[c->aux];
  const int64_t first = FirstElement(m, c);
  const DType dtype = mem.buffer->dtype;
  const int64_t size = SizeBytes(dtype);
  const bool is_output = mem.buffer->role == Role::kOutput;
  for (int i = 0; i < c->lanes; ++i) {
    if (!LaneIsOn(m, c, i)) continue;
    const int64_t at = first + i;
    if (at < 0 || at >= mem.buffer->elements) return Stop(m, c, at, "store to");
    if (kThreads && TouchToWrite(m, c, at) == nullptr) return nullptr;
    if (is_output && mem.written[at] != 0 && mem.written[at] != m.task_mark)
      return Stop(m, c, at, "a second task's store to");
    mem.written[at] = m.task_mark;
    if (kNarrow) {
      WriteLane(mem.data + at * size, dtype, 0,
                ReadLane(m.regs + c->a, c->dtype, i));
    } else {
      std::memcpy(mem.data + at * size, m.regs + c->a + i * size, size);
    }
    if (m.on_access != nullptr && !mem.buffer->per_thread)
      (*m.on_access)(c->aux, at * size, size, true);
  }
  return c + 1;
}

}  // namespace

int64_t ReadIndex(const Machine& m, int32_t at, DType dtype) {
  if (dtype == DType::kInt32) {
    int32_t v;
    std::memcpy(&v, m.regs + at, sizeof(v));
    return v;
  }
  int64_t v;
  std::memcpy(&v, m.regs + at, sizeof(v));
  return v;
}

Step LoadStepFor(bool narrow, bool threads) {
  if (threads) return narrow ? LoadStep<true, true> : LoadStep<false, true>;
  return narrow ? LoadStep<true, false> : LoadStep<false, false>;
}
Step StoreStepFor(bool narrow, bool threads) {
  if (threads) return narrow ? StoreStep<true, true> : StoreStep<false, true>;
  return narrow ? StoreStep<true, false> : StoreStep<false, false>;
}

}  // namespace tilewright::kernel_ir::internal
