#include "backends/lowering/functions/value.h"

#include <cstring>

#include "base/check.h"

namespace tilewright::lowering::functions {

using kernel_ir::Inst;
using kernel_ir::Reg;

namespace {

DType IntegerOf(DType dtype) {
  return SizeBytes(dtype) == 8 ? DType::kInt64 : DType::kInt32;
}

Value Binary(Op op, Value a, Value b) {
  return a.emitter->Operation(op, a.dtype(), {a, b});
}
Value Compare(Op op, Value a, Value b) {
  return a.emitter->Operation(op, DType::kBool, {a, b});
}
Value Unary(Op op, Value a) { return a.emitter->Operation(op, a.dtype(), {a}); }

int64_t SignBit(DType dtype) {
  return dtype == DType::kFloat64 ? INT64_MIN : INT32_MIN;
}

}  // namespace

Value Value::Like(double number) const {
  return emitter->Constant(dtype(), lanes(), number,
                           IsFloat(dtype()) ? 0 : static_cast<int64_t>(number));
}
Value Value::Like(int64_t number) const {
  return emitter->Constant(dtype(), lanes(), static_cast<double>(number),
                           number);
}

Reg Emitter::NewReg(DType dtype, int lanes, bool is_variable) {
  kernel_.regs.push_back({dtype, lanes, is_variable, ""});
  return static_cast<Reg>(kernel_.regs.size()) - 1;
}

Value Emitter::Operation(Op op, DType dtype,
                         std::initializer_list<Value> operands) {
  kernel_ir::OpInst inst;
  inst.op = op;
  for (const Value& v : operands) inst.operands.push_back(v.reg);
  inst.dst = NewReg(dtype, operands.begin()->lanes());
  Append(Inst{inst});
  return Of(inst.dst);
}

Value Emitter::Constant(DType dtype, int lanes, double f, int64_t i) {
  if (dtype == DType::kFloat32) f = static_cast<float>(f);
  uint64_t bits;
  if (IsFloat(dtype)) {
    i = 0;
    std::memcpy(&bits, &f, sizeof(bits));
  } else {
    f = 0;
    bits = static_cast<uint64_t>(i);
  }
  auto [it, is_new] =
      known_.try_emplace({dtype, lanes, bits}, kernel_ir::kNoReg);
  if (is_new) {
    it->second = NewReg(dtype, lanes);
    constants_.push_back(Inst{kernel_ir::ConstInst{it->second, f, i}});
  }
  return Of(it->second);
}

Value operator+(Value a, Value b) { return Binary(Op::kAdd, a, b); }
Value operator-(Value a, Value b) { return Binary(Op::kSub, a, b); }
Value operator*(Value a, Value b) { return Binary(Op::kMul, a, b); }
Value operator/(Value a, Value b) { return Binary(Op::kDiv, a, b); }
Value operator&(Value a, Value b) { return Binary(Op::kAnd, a, b); }
Value operator|(Value a, Value b) { return Binary(Op::kOr, a, b); }
Value operator^(Value a, Value b) { return Binary(Op::kXor, a, b); }
Value operator<(Value a, Value b) { return Compare(Op::kLt, a, b); }
Value operator==(Value a, Value b) { return Compare(Op::kEq, a, b); }

Value Not(Value condition) { return Unary(Op::kNot, condition); }
Value Select(Value condition, Value a, Value b) {
  return a.emitter->Operation(Op::kSelect, a.dtype(), {condition, a, b});
}
Value Abs(Value a) { return Unary(Op::kAbs, a); }
Value Floor(Value a) { return Unary(Op::kFloor, a); }
Value RoundEven(Value a) { return Unary(Op::kRound, a); }
Value Cast(DType to, Value a) {
  return a.dtype() == to ? a : a.emitter->Operation(Op::kCast, to, {a});
}

Value MultiplyAdd(Value a, Value b, Value c) {
  Emitter& e = *a.emitter;
  if (!e.fma()) return a * b + c;
  const Reg dst = e.NewReg(a.dtype(), a.lanes());
  e.Append(Inst{kernel_ir::FmaInst{dst, a.reg, b.reg, c.reg}});
  return e.Of(dst);
}

Value Scale(Value a, Value n) {
  Emitter& e = *a.emitter;
  TW_CHECK(e.scale());
  const Reg dst = e.NewReg(a.dtype(), a.lanes());
  e.Append(Inst{kernel_ir::ScaleInst{dst, a.reg, n.reg}});
  return e.Of(dst);
}

Value Lookup(Value a, std::vector<float> values) {
  Emitter& e = *a.emitter;
  TW_CHECK(e.lookup());
  const Reg dst = e.NewReg(a.dtype(), a.lanes());
  e.Append(Inst{kernel_ir::LookupInst{dst, a.reg, std::move(values)}});
  return e.Of(dst);
}

namespace {
Value Bitcast(DType to, Value a) {
  Emitter& e = *a.emitter;
  const Reg dst = e.NewReg(to, a.lanes());
  e.Append(Inst{kernel_ir::BitcastInst{dst, a.reg}});
  return e.Of(dst);
}
}  // namespace

Value Bits(Value a) { return Bitcast(IntegerOf(a.dtype()), a); }
Value FromBits(Value a) {
  return Bitcast(SizeBytes(a.dtype()) == 8 ? DType::kFloat64 : DType::kFloat32,
                 a);
}
Value ShiftLeft(Value a, int bits) { return a * (int64_t{1} << bits); }
Value ShiftRight(Value a, int bits) {
  return Binary(Op::kFloorDiv, a, a.Like(int64_t{1} << bits));
}

// Not kMax and kMin: these selects are one instruction where those are five.
Value AtMost(Value a, double bound) {
  const Value b = a.Like(bound);
  return Select(b < a, b, a);
}
Value AtLeast(Value a, double bound) {
  const Value b = a.Like(bound);
  return Select(a < b, b, a);
}

Value NegativeAbs(Value a) {
  const Value bits = Bits(a);
  return FromBits(bits | bits.Like(SignBit(a.dtype())));
}
Value FlipSign(Value magnitude, Value sign) {
  return FromBits(Bits(magnitude) ^ (Bits(sign) & SignBit(sign.dtype())));
}

Value Polynomial(Value x, const std::vector<double>& coefficients) {
  TW_CHECK(!coefficients.empty());
  Value y = x.Like(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    y = MultiplyAdd(y, x, coefficients[i]);
  return y;
}

Value Variable(Value initial) {
  Emitter& e = *initial.emitter;
  const Value variable = e.Of(e.NewReg(initial.dtype(), initial.lanes(), true));
  Assign(variable, initial);
  return variable;
}

void Assign(Value variable, Value value) {
  value.emitter->Append(Inst{kernel_ir::CopyInst{variable.reg, value.reg}});
}

void IfAny(Value condition, const std::function<void()>& body) {
  Emitter& e = *condition.emitter;
  Reg any = condition.reg;
  if (condition.lanes() > 1) {
    any = e.NewReg(DType::kBool, 1);
    e.Append(Inst{kernel_ir::AnyInst{any, condition.reg}});
  }
  kernel_ir::IfInst branch;
  branch.condition = any;
  std::vector<Inst>* const outer = e.out();
  e.set_out(&branch.then_body);
  body();
  e.set_out(outer);
  e.Append(Inst{std::move(branch)});
}

}  // namespace tilewright::lowering::functions
