#include "backends/kernel_ir/builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"

namespace tilewright::kernel_ir {
namespace {

bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }

int64_t AlignUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

ScalarBuilder::ScalarBuilder(std::string name, int64_t num_tasks) {
  kernel_.name = std::move(name);
  kernel_.num_tasks = num_tasks;
  kernel_.task = NewReg(DType::kInt64, 1, "task", false);
  scopes_.emplace_back();
  scopes_.back().kind = Scope::Kind::kBody;
}

int ScalarBuilder::AddArgument(std::string name, DType dtype, Role role,
                               int64_t elements) {
  TW_CHECK(role != Role::kLocal) << "an argument cannot be local: " << name;
  TW_CHECK(kernel_.buffers.empty() ||
           kernel_.buffers.back().role != Role::kLocal)
      << "arguments come before scratch: " << name;
  kernel_.buffers.push_back({std::move(name), dtype, role, elements, -1});
  load_epoch_.push_back(0);
  return static_cast<int>(kernel_.buffers.size()) - 1;
}

int ScalarBuilder::AddScratch(std::string name, DType dtype, int64_t elements) {
  const int64_t offset = AlignUp(kernel_.scratch_bytes);
  kernel_.buffers.push_back(
      {std::move(name), dtype, Role::kLocal, elements, offset});
  kernel_.scratch_bytes = AlignUp(offset + elements * SizeBytes(dtype));
  load_epoch_.push_back(0);
  return static_cast<int>(kernel_.buffers.size()) - 1;
}

Reg ScalarBuilder::AddThreads(int threads, int warp) {
  TW_CHECK(!kernel_.has_threads());
  kernel_.threads = threads;
  kernel_.warp = warp;
  return kernel_.thread = NewReg(DType::kInt64, 1, "thread", false);
}

int ScalarBuilder::AddPerThread(std::string name, DType dtype,
                                int64_t elements) {
  TW_CHECK(kernel_.has_threads()) << name << " of no thread";
  ScalarBuffer buffer{std::move(name), dtype, Role::kLocal, elements};
  buffer.per_thread = true;
  kernel_.buffers.push_back(std::move(buffer));
  load_epoch_.push_back(0);
  return static_cast<int>(kernel_.buffers.size()) - 1;
}

Reg ScalarBuilder::NewReg(DType dtype, int lanes, std::string name,
                          bool is_variable) {
  TW_CHECK_GE(lanes, 1);
  kernel_.regs.push_back(
      {RegisterType(dtype), lanes, is_variable, std::move(name)});
  return static_cast<Reg>(kernel_.regs.size()) - 1;
}

void ScalarBuilder::Append(Inst inst) {
  scopes_.back().insts.push_back(std::move(inst));
}

template <typename Make>
Reg ScalarBuilder::Shared(const std::string& key, bool shareable, DType dtype,
                          int lanes, Make make) {
  if (shareable) {
    for (const Scope& scope : scopes_) {
      auto it = scope.known.find(key);
      if (it != scope.known.end()) return it->second;
    }
  }
  const Reg dst = NewReg(dtype, lanes, "", false);
  Append(Inst{make(dst)});
  if (shareable) scopes_.back().known.emplace(key, dst);
  return dst;
}

bool ScalarBuilder::AnyVariable(absl::Span<const Reg> regs) const {
  return std::any_of(regs.begin(), regs.end(),
                     [&](Reg r) { return r != kNoReg && type(r).is_variable; });
}

Reg ScalarBuilder::Int(int64_t value, DType dtype, int lanes) {
  TW_CHECK(!IsFloat(dtype)) << "an integer constant of dtype " << Name(dtype);
  return Shared(
      absl::StrCat("i", static_cast<int>(dtype), "x", lanes, ":", value), true,
      dtype, lanes, [&](Reg dst) {
        ConstInst inst;
        inst.dst = dst;
        inst.i = value;
        return inst;
      });
}

Reg ScalarBuilder::Float(double value, DType dtype, int lanes) {
  TW_CHECK(IsFloat(dtype)) << "a float constant of dtype " << Name(dtype);
  dtype = RegisterType(dtype);
  if (dtype == DType::kFloat32) value = static_cast<float>(value);
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return Shared(absl::StrCat("f", static_cast<int>(dtype), "x", lanes, ":",
                             absl::Hex(bits)),
                true, dtype, lanes, [&](Reg dst) {
                  ConstInst inst;
                  inst.dst = dst;
                  inst.f = value;
                  return inst;
                });
}

std::vector<Reg> ScalarBuilder::SplatToEqualLanes(std::vector<Reg> operands) {
  int lanes = 1;
  for (Reg r : operands) lanes = std::max(lanes, type(r).lanes);
  for (Reg& r : operands) {
    if (type(r).lanes != lanes) r = Splat(r, lanes);
  }
  return operands;
}

Reg ScalarBuilder::Emit(Op op, std::vector<Reg> operands) {
  TW_CHECK(op != Op::kCast && op != Op::kConst && op != Op::kVar &&
           op != Op::kLoad)
      << "Emit cannot make " << Name(op);
  operands = SplatToEqualLanes(std::move(operands));
  const DType operand_dtype = type(operands.back()).dtype;
  const DType dtype =
      IsComparison(op) || op == Op::kIsNan ? DType::kBool : operand_dtype;
  const int lanes = type(operands[0]).lanes;
  const std::string key = absl::StrCat("o", static_cast<int>(op), ":",
                                       absl::StrJoin(operands, ","));
  return Shared(key, !AnyVariable(operands), dtype, lanes, [&](Reg dst) {
    return OpInst{dst, op, operands};
  });
}

Reg ScalarBuilder::Cast(DType to, Reg source) {
  to = RegisterType(to);
  if (type(source).dtype == to) return source;
  const std::string key = absl::StrCat("c", static_cast<int>(to), ":", source);
  return Shared(key, !AnyVariable({source}), to, type(source).lanes,
                [&](Reg dst) {
                  return OpInst{dst, Op::kCast, {source}};
                });
}

Reg ScalarBuilder::Fma(Reg a, Reg b, Reg c) {
  const std::vector<Reg> o = SplatToEqualLanes({a, b, c});
  TW_CHECK(IsFloat(type(o[0]).dtype)) << "fma of " << Name(type(o[0]).dtype);
  return Shared(absl::StrCat("m", absl::StrJoin(o, ",")), !AnyVariable(o),
                type(o[0]).dtype, type(o[0]).lanes, [&](Reg dst) {
                  return FmaInst{dst, o[0], o[1], o[2]};
                });
}

Reg ScalarBuilder::Scale(Reg a, Reg n) {
  const std::vector<Reg> o = SplatToEqualLanes({a, n});
  TW_CHECK(IsFloat(type(o[0]).dtype)) << "scale of " << Name(type(o[0]).dtype);
  return Shared(absl::StrCat("2^", absl::StrJoin(o, ",")), !AnyVariable(o),
                type(o[0]).dtype, type(o[0]).lanes, [&](Reg dst) {
                  return ScaleInst{dst, o[0], o[1]};
                });
}

Reg ScalarBuilder::Lookup(Reg source, std::vector<float> values) {
  const RegType of = type(source);
  TW_CHECK(of.dtype == DType::kFloat32) << "lookup of " << Name(of.dtype);
  TW_CHECK_EQ(values.size(), size_t{kLookupValues});
  std::string key = absl::StrCat("t", source);
  for (const float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    absl::StrAppend(&key, ":", bits);
  }
  return Shared(std::move(key), !AnyVariable({source}), of.dtype, of.lanes,
                [&](Reg dst) {
                  return LookupInst{dst, source, std::move(values)};
                });
}

Reg ScalarBuilder::Permute(Reg source, Reg table) {
  TW_CHECK(type(source).dtype == DType::kUInt8);
  TW_CHECK_EQ(type(table).lanes, kPermuteBytes);
  return Shared(absl::StrCat("p", source, ":", table),
                !AnyVariable({source, table}), type(table).dtype,
                type(source).lanes, [&](Reg dst) {
                  return PermuteInst{dst, source, table};
                });
}

Reg ScalarBuilder::Splat(Reg source, int lanes) {
  TW_CHECK_EQ(type(source).lanes, 1);
  if (lanes == 1) return source;
  return Shared(absl::StrCat("s", lanes, ":", source), !AnyVariable({source}),
                type(source).dtype, lanes, [&](Reg dst) {
                  return SplatInst{dst, source};
                });
}

Reg ScalarBuilder::Lane(Reg source, int lane) {
  TW_CHECK_LT(lane, type(source).lanes);
  return Shared(absl::StrCat("l", lane, ":", source), !AnyVariable({source}),
                type(source).dtype, 1, [&](Reg dst) {
                  return LaneInst{dst, source, lane};
                });
}

Reg ScalarBuilder::Insert(Reg source, int lane, Reg value) {
  TW_CHECK_LT(lane, type(source).lanes);
  return Shared(absl::StrCat("n", lane, ":", source, ",", value),
                !AnyVariable({source, value}), type(source).dtype,
                type(source).lanes, [&](Reg dst) {
                  return InsertInst{dst, source, value, lane};
                });
}

Reg ScalarBuilder::Shuffle(Reg a, Reg b, std::vector<int> lanes) {
  TW_CHECK(!lanes.empty());
  const int source_lanes = type(a).lanes;
  if (lanes.size() == 1) {
    return lanes[0] < source_lanes ? Lane(a, lanes[0])
                                   : Lane(b, lanes[0] - source_lanes);
  }
  return Shared(absl::StrCat("h", absl::StrJoin(lanes, "."), ":", a, ",", b),
                !AnyVariable({a, b}), type(a).dtype,
                static_cast<int>(lanes.size()), [&](Reg dst) {
                  return ShuffleInst{dst, a, b, std::move(lanes)};
                });
}

Reg ScalarBuilder::Bitcast(DType to, Reg source) {
  TW_CHECK_EQ(SizeBytes(to), SizeBytes(type(source).dtype))
      << "bits of " << Name(type(source).dtype) << " as " << Name(to);
  if (type(source).dtype == to) return source;
  return Shared(absl::StrCat("b", static_cast<int>(to), ":", source),
                !AnyVariable({source}), to, type(source).lanes, [&](Reg dst) {
                  return BitcastInst{dst, source};
                });
}

Reg ScalarBuilder::Any(Reg source) {
  TW_CHECK(type(source).dtype == DType::kBool)
      << "any of " << Name(type(source).dtype);
  if (type(source).lanes == 1) return source;
  return Shared(absl::StrCat("a:", source), !AnyVariable({source}),
                DType::kBool, 1, [&](Reg dst) {
                  return AnyInst{dst, source};
                });
}

Reg ScalarBuilder::EmitExpr(const Expr& expr,
                            const std::function<Reg(const Expr&)>& leaf) {
  switch (expr.op()) {
    case Op::kVar:
    case Op::kLoad:
      return leaf(expr);
    case Op::kConst:
      return IsFloat(expr.dtype()) ? Float(expr.float_value(), expr.dtype())
                                   : Int(expr.int_value(), expr.dtype());
    case Op::kCast:
      return Cast(expr.dtype(), EmitExpr(expr.operand(0), leaf));
    default: {
      std::vector<Reg> operands;
      for (const Expr& operand : expr.operands())
        operands.push_back(EmitExpr(operand, leaf));
      return Emit(expr.op(), std::move(operands));
    }
  }
}

Reg ScalarBuilder::Load(int buffer, Reg offset, int64_t constant_offset,
                        int lanes, int active, Reg mask, Reg other) {
  return LoadAs(kernel_.buffers[buffer].dtype, buffer, offset, constant_offset,
                lanes, active, mask, other);
}

Reg ScalarBuilder::LoadBits(int buffer, Reg offset, int64_t constant_offset,
                            int lanes, int active) {
  TW_CHECK(kernel_.buffers[buffer].dtype == DType::kBFloat16);
  return LoadAs(DType::kUInt16, buffer, offset, constant_offset, lanes, active,
                kNoReg, kNoReg);
}

Reg ScalarBuilder::LoadAs(DType dtype, int buffer, Reg offset,
                          int64_t constant_offset, int lanes, int active,
                          Reg mask, Reg other) {
  const ScalarBuffer& b = kernel_.buffers[buffer];
  if (active == lanes) active = 0;
  std::string key = absl::StrCat("L", static_cast<int>(dtype), ":", buffer, ",",
                                 offset, ",", constant_offset, ",", lanes, ",",
                                 active, ",", mask, ",", other);
  const bool read_only = b.role == Role::kInput || b.role == Role::kConstant;
  absl::StrAppend(&key, "@", load_epoch_[buffer]);
  if (!read_only) absl::StrAppend(&key, "/", scope_epoch_);
  return Shared(key, !AnyVariable({offset, mask, other}), dtype, lanes,
                [&](Reg dst) {
                  LoadInst inst;
                  inst.dst = dst;
                  inst.buffer = buffer;
                  inst.offset = offset;
                  inst.constant_offset = constant_offset;
                  inst.active = active;
                  inst.mask = mask;
                  inst.other = other;
                  return inst;
                });
}

void ScalarBuilder::Store(int buffer, Reg offset, int64_t constant_offset,
                          Reg value, int active, Reg mask) {
  StoreInst inst;
  inst.buffer = buffer;
  inst.offset = offset;
  inst.constant_offset = constant_offset;
  inst.value = value;
  inst.active = active == type(value).lanes ? 0 : active;
  inst.mask = mask;
  Append(Inst{inst});
  ++load_epoch_[buffer];
}

void ScalarBuilder::Prefetch(int buffer, Reg offset, int64_t constant_offset,
                             int level) {
  Append(Inst{PrefetchInst{buffer, offset, constant_offset, level}});
}

void ScalarBuilder::Barrier() {
  Append(Inst{BarrierInst{}});
  for (int64_t& epoch : load_epoch_) ++epoch;
}

Reg ScalarBuilder::ExchangeXor(Reg source, int lane_xor) {
  const Reg dst = NewReg(type(source).dtype, type(source).lanes, "", false);
  Append(Inst{ExchangeInst{dst, source, lane_xor, kNoReg}});
  return dst;
}

Reg ScalarBuilder::ExchangeLane(Reg source, Reg lane) {
  const Reg dst = NewReg(type(source).dtype, type(source).lanes, "", false);
  Append(Inst{ExchangeInst{dst, source, 0, lane}});
  return dst;
}

void ScalarBuilder::AsyncCopy(AsyncCopyInst copy) {
  Append(Inst{copy});
  ++load_epoch_[copy.to];
}

void ScalarBuilder::Commit() { Append(Inst{CommitInst{}}); }

void ScalarBuilder::Wait(int pending) {
  Append(Inst{WaitInst{pending}});
  for (int64_t& epoch : load_epoch_) ++epoch;
}

}  // namespace tilewright::kernel_ir
