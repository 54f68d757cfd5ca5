// Registers and instructions of the scalar tier.
//
// A register is either a value (assigned once) or a variable (`is_variable`:
// assigned any number of times, e.g. an accumulator). Indices are i64 or, where
// narrowing proved it safe, i32. All lanes of a vector do the same; `lanes` is
// 1 for scalars.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_INST_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_INST_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::kernel_ir {

using Reg = int;
inline constexpr Reg kNoReg = -1;
inline constexpr int kLookupValues = 16;   // of a LookupInst
inline constexpr int kPermuteBytes = 256;  // of a PermuteInst

struct RegType {
  DType dtype;
  int lanes = 1;
  bool is_variable = false;
  std::string name;  // for listings, may be empty
};

// dst = op(operands): arithmetic of tilegraph/expr/op.h on equal lanes
// (kSelect, kCast, ... included; never kVar or kLoad).
struct OpInst {
  Reg dst;
  Op op;
  std::vector<Reg> operands;
};
// dst = constant in every lane.
struct ConstInst {
  Reg dst;
  double f = 0;
  int64_t i = 0;
};
// dst = source, for variables.
struct CopyInst {
  Reg dst;
  Reg source;
};
struct SplatInst {  // all lanes = the scalar source
  Reg dst;
  Reg source;
};
struct FmaInst {  // dst = a * b + c with one rounding
  Reg dst, a, b, c;
};
struct ScaleInst {  // dst = a * 2^floor(n) with one rounding; floats
  Reg dst, a, n;
};
// dst = values[the low four bits of the source's bits], f32 lane by lane; 16
// values. What a small table of polynomials is read with.
struct LookupInst {
  Reg dst, source;
  std::vector<float> values;
};
// Lane i of dst = lane source[i] of the table: bytes (u8 or i8), 256 of them,
// at bytes (u8). What a function of a byte is read with.
struct PermuteInst {
  Reg dst, source, table;
};
// dst = acc + sums of short groups of products (tilegraph/ir/intrinsics.h):
// lane i adds a[g] * b[i * group + g] over g. The dtype of `a` tells which: u8
// with s8 and i32 sums, groups of four; u16, the bits of bf16, with f32 sums,
// groups of two. `a` has `group` lanes, `b` group * lanes.
struct DotInst {
  Reg dst, acc, a, b;
};
struct LaneInst {  // dst (scalar) = lane `lane` of source
  Reg dst, source;
  int lane;
};
struct InsertInst {  // dst = source with lane `lane` replaced by the scalar
                     // `value`
  Reg dst, source, value;
  int lane;
};
// Lane i of dst = lane lanes[i] of the lanes of `a` followed by those of `b`,
// which have equal type and at least two lanes each (b may be a). dst has
// lanes.size() lanes, two at least.
struct ShuffleInst {
  Reg dst, a, b;
  std::vector<int> lanes;
};
// dst = the same bits as another dtype of equal size (f32 <-> i32, f64 <->
// i64), lane by lane.
struct BitcastInst {
  Reg dst, source;
};
// dst (scalar bool) = some lane of the bool `source` is true: what lets a
// vector skip work that no lane needs.
struct AnyInst {
  Reg dst, source;
};
// Elements [offset + constant_offset, +lanes) of a buffer, in elements of its
// physical layout; with stride 1. For fp16 and bf16 buffers the register is f32
// (converted), or, for bf16, u16: the bits. Masking: only the first `active`
// lanes are touched (0: all); where `mask` (a bool register of equal lanes, or
// a scalar for all lanes) is false nothing is read and the lane is `other`
// (kNoReg: zero).
struct LoadInst {
  Reg dst;
  int buffer;
  Reg offset;  // kNoReg: 0
  int64_t constant_offset = 0;
  int active = 0;
  Reg mask = kNoReg;
  Reg other = kNoReg;
};
struct StoreInst {
  int buffer;
  Reg offset;
  int64_t constant_offset = 0;
  Reg value;
  int active = 0;
  Reg mask = kNoReg;
  // Past the caches: a hint. REQUIRES: a whole vector, at a multiple of its
  // size from the buffer's start.
  bool streaming = false;
};
// Brings the cache line of that element closer; never faults. level 0: L1, 1:
// L2.
struct PrefetchInst {
  int buffer;
  Reg offset;
  int64_t constant_offset = 0;
  int level = 1;
};

// Waits for all threads of the block: what each did to scratch and outputs
// before, all others see behind.
struct BarrierInst {};
// dst = the `source` of another thread of the warp: the one whose lane is this
// one's xor `lane_xor`, or, if there is a `lane` (i64 or i32), that lane; of it
// the low bits count. Orders no memory.
struct ExchangeInst {
  Reg dst, source;
  int lane_xor = 0;
  Reg lane = kNoReg;
};

// Copies `lanes` elements, bits as they are, from an argument that nobody
// writes into scratch of the block, some time between here and where the thread
// waits for it (WaitInst); where `mask` (a scalar bool) is false, nothing is
// read and zeros come there. Until then nobody may touch them, and other
// threads only behind a barrier after that.
struct AsyncCopyInst {
  int to;
  Reg to_offset;  // kNoReg: 0
  int64_t to_constant = 0;
  int from;
  Reg from_offset;  // kNoReg: 0
  int64_t from_constant = 0;
  int lanes = 1;
  Reg mask = kNoReg;
};
// What the thread has copied asynchronously since the last one is a group.
struct CommitInst {};
// Waits until all groups of the thread but the last `pending` are copied.
struct WaitInst {
  int pending = 0;  // kMostPending at most
};
inline constexpr int kMostPending = 7;

// The dtype of the register that holds an element of a buffer: f32 for fp16 and
// bf16, which are storage only; otherwise its own.
DType RegisterType(DType element);
// The intrinsic of a DotInst with such an operand `a`; null if there is none.
const DotIntrinsic* DotOf(DType a);

struct Inst;

struct ForInst {  // for var in [begin, end) step; bounds are constants or
                  // registers
  Reg var;
  Reg begin = kNoReg;  // kNoReg: constant_begin
  Reg end = kNoReg;
  int64_t constant_begin = 0;
  int64_t constant_end = 0;
  int64_t step = 1;
  int unroll = 1;  // hint: how many iterations the backend lays out in a row
  std::vector<Inst> body;
};
struct IfInst {
  Reg condition;  // scalar bool
  std::vector<Inst> then_body;
  std::vector<Inst> else_body;
};

struct Inst {
  std::variant<OpInst, ConstInst, CopyInst, SplatInst, FmaInst, ScaleInst,
               LookupInst, PermuteInst, DotInst, LaneInst, InsertInst,
               ShuffleInst, BitcastInst, AnyInst, LoadInst, StoreInst,
               PrefetchInst, BarrierInst, ExchangeInst, AsyncCopyInst,
               CommitInst, WaitInst, ForInst, IfInst>
      node;
};

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_SCALAR_INST_H_
