#include "backends/kernel_ir/scalar_steps.h"

#include <cstring>

#include "backends/kernel_ir/scalar_memory.h"

namespace tilewright::kernel_ir::internal {
namespace {

// A bf16.
float FromBits(const char* at) {
  uint16_t high;
  std::memcpy(&high, at, 2);
  const uint32_t bits = static_cast<uint32_t>(high) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace

void WriteIndex(Machine& m, int32_t at, DType dtype, int64_t value) {
  WriteLane(m.regs + at, dtype, 0, {0, value});
}

const Code* CopyStep(Machine& m, const Code* c) {
  std::memmove(m.regs + c->dst, m.regs + c->a, c->imm);
  return c + 1;
}

const Code* SplatStep(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i)
    std::memcpy(m.regs + c->dst + i * c->imm, m.regs + c->a, c->imm);
  return c + 1;
}

const Code* LaneStep(Machine& m, const Code* c) {
  std::memmove(m.regs + c->dst, m.regs + c->a + c->aux * c->imm, c->imm);
  return c + 1;
}

const Code* InsertStep(Machine& m, const Code* c) {
  char value[8];
  std::memcpy(value, m.regs + c->b, c->imm);
  std::memmove(m.regs + c->dst, m.regs + c->a, c->lanes * c->imm);
  std::memcpy(m.regs + c->dst + c->aux * c->imm, value, c->imm);
  return c + 1;
}

const Code* ShuffleStep(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    int32_t lane;
    std::memcpy(&lane, m.regs + c->c + i * sizeof(lane), sizeof(lane));
    const int32_t source =
        lane < c->aux ? c->a + lane * static_cast<int32_t>(c->imm)
                      : c->b + (lane - c->aux) * static_cast<int32_t>(c->imm);
    std::memcpy(m.regs + c->dst + i * c->imm, m.regs + source, c->imm);
  }
  return c + 1;
}

const Code* LookupStep(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    uint32_t bits;
    std::memcpy(&bits, m.regs + c->a + i * sizeof(bits), sizeof(bits));
    std::memcpy(m.regs + c->dst + i * sizeof(bits),
                m.regs + c->c + (bits % c->aux) * sizeof(bits), sizeof(bits));
  }
  return c + 1;
}

const Code* PermuteStep(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    const auto byte = static_cast<unsigned char>(m.regs[c->a + i]);
    m.regs[c->dst + i] = m.regs[c->c + byte];
  }
  return c + 1;
}

const Code* AnyStep(Machine& m, const Code* c) {
  bool any = false;
  for (int i = 0; i < c->lanes; ++i) any = any || m.regs[c->a + i] != 0;
  m.regs[c->dst] = any;
  return c + 1;
}

const Code* DotIntStep(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    uint32_t sum;
    std::memcpy(&sum, m.regs + c->c + 4 * i, 4);
    for (int g = 0; g < c->aux; ++g) {
      const auto a = static_cast<uint8_t>(m.regs[c->a + g]);
      const auto b = static_cast<int8_t>(m.regs[c->b + c->aux * i + g]);
      sum += static_cast<uint32_t>(a * b);
    }
    std::memcpy(m.regs + c->dst + 4 * i, &sum, 4);
  }
  return c + 1;
}

// One rounding per term, in order.
const Code* DotFloatStep(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    float sum;
    std::memcpy(&sum, m.regs + c->c + 4 * i, 4);
    for (int g = 0; g < c->aux; ++g)
      sum += FromBits(m.regs + c->a + 2 * g) *
             FromBits(m.regs + c->b + 2 * (c->aux * i + g));
    std::memcpy(m.regs + c->dst + 4 * i, &sum, 4);
  }
  return c + 1;
}

const Code* HaltStep(Machine&, const Code*) { return nullptr; }

const Code* JumpStep(Machine&, const Code* c) { return c->target; }

const Code* IfStep(Machine& m, const Code* c) {
  return m.regs[c->a] != 0 ? c + 1 : c->target;
}

const Code* ForStep(Machine& m, const Code* c) {
  const int64_t begin = ReadIndex(m, c->a, c->dtype);
  if (begin >= ReadIndex(m, c->b, c->dtype)) return c->target;
  WriteIndex(m, c->dst, c->dtype, begin);
  return c + 1;
}

const Code* NextStep(Machine& m, const Code* c) {
  const int64_t next = ReadIndex(m, c->dst, c->dtype) + c->imm;
  if (next >= ReadIndex(m, c->b, c->dtype)) return c + 1;
  WriteIndex(m, c->dst, c->dtype, next);
  return c->target;
}

}  // namespace tilewright::kernel_ir::internal
