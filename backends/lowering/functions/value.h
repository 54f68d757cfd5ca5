// A small language to write functions in: a Value is a register of the kernel
// being rewritten, and an operation on Values appends the instruction. Numbers
// beside Values are constants of the same dtype and lanes.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_VALUE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_VALUE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::lowering::functions {

class Emitter;

struct Value {
  Emitter* emitter;
  kernel_ir::Reg reg;

  DType dtype() const;
  int lanes() const;
  // The constant `number` in every lane.
  Value Like(double number) const;
  Value Like(int number) const { return Like(static_cast<double>(number)); }
  Value Like(int64_t number) const;
};

// Appends to one list of instructions at a time; constants are kept apart, for
// the start of the kernel.
class Emitter {
 public:
  Emitter(kernel_ir::ScalarKernel& kernel, bool fma, bool scale, bool lookup)
      : kernel_(kernel), fma_(fma), scale_(scale), lookup_(lookup) {}

  bool fma() const { return fma_; }
  bool scale() const { return scale_; }
  bool lookup() const { return lookup_; }
  const kernel_ir::RegType& type(kernel_ir::Reg reg) const {
    return kernel_.regs[reg];
  }
  void set_out(std::vector<kernel_ir::Inst>* out) { out_ = out; }
  std::vector<kernel_ir::Inst>* out() const { return out_; }
  std::vector<kernel_ir::Inst> TakeConstants() { return std::move(constants_); }

  Value Of(kernel_ir::Reg reg) { return {this, reg}; }
  kernel_ir::Reg NewReg(DType dtype, int lanes, bool is_variable = false);
  Value Operation(Op op, DType dtype, std::initializer_list<Value> operands);
  Value Constant(DType dtype, int lanes, double f, int64_t i);
  void Append(kernel_ir::Inst inst) { out_->push_back(std::move(inst)); }

 private:
  kernel_ir::ScalarKernel& kernel_;
  const bool fma_, scale_, lookup_;
  std::vector<kernel_ir::Inst>* out_ = nullptr;
  std::vector<kernel_ir::Inst> constants_;
  std::map<std::tuple<DType, int, uint64_t>, kernel_ir::Reg>
      known_;  // dtype, lanes, bits
};

inline DType Value::dtype() const { return emitter->type(reg).dtype; }
inline int Value::lanes() const { return emitter->type(reg).lanes; }

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator<(Value a, Value b);
Value operator==(Value a, Value b);
template <typename N>
Value operator+(Value a, N b) {
  return a + a.Like(b);
}
template <typename N>
Value operator-(Value a, N b) {
  return a - a.Like(b);
}
template <typename N>
Value operator*(Value a, N b) {
  return a * a.Like(b);
}
template <typename N>
Value operator&(Value a, N b) {
  return a & a.Like(b);
}
template <typename N>
Value operator^(Value a, N b) {
  return a ^ a.Like(b);
}
template <typename N>
Value operator<(Value a, N b) {
  return a < a.Like(b);
}
template <typename N>
Value operator==(Value a, N b) {
  return a == a.Like(b);
}

Value Not(Value condition);
Value Select(Value condition, Value a, Value b);
Value Abs(Value a);
Value Floor(Value a);
Value RoundEven(Value a);
Value Cast(DType to, Value a);
// a * b + c: fused if the target can, else rounded twice.
Value MultiplyAdd(Value a, Value b, Value c);
template <typename B, typename C>
Value MultiplyAdd(Value a, B b, C c);
// a * 2^floor(n), rounded once. REQUIRES: Emitter::scale().
Value Scale(Value a, Value n);
// values[the low four bits of the float `a`'s bits]; 16 values. REQUIRES:
// Emitter::lookup(); f32.
Value Lookup(Value a, std::vector<float> values);
// The bits of a float as the integer of its size, and back.
Value Bits(Value a);
Value FromBits(Value a);
Value ShiftLeft(Value a, int bits);
Value ShiftRight(Value a, int bits);  // of the sign too
// NaN if `a` is NaN; else a, but at most (at least) `bound`.
Value AtMost(Value a, double bound);
Value AtLeast(Value a, double bound);
Value NegativeAbs(Value a);
// `magnitude`, which is not below 0, with its sign flipped where the sign bit
// of the float `sign` is set.
Value FlipSign(Value magnitude, Value sign);
// coefficients[0] + x * (coefficients[1] + x * ...)
Value Polynomial(Value x, const std::vector<double>& coefficients);
// A variable that starts as `initial`, and its assignment.
Value Variable(Value initial);
void Assign(Value variable, Value value);
// Runs `body` if any lane of `condition` is true.
void IfAny(Value condition, const std::function<void()>& body);

namespace internal {
inline Value ToValue(Value, Value b) { return b; }
template <typename N>
Value ToValue(Value like, N number) {
  return like.Like(number);
}
}  // namespace internal

template <typename B, typename C>
Value MultiplyAdd(Value a, B b, C c) {
  return MultiplyAdd(a, internal::ToValue(a, b), internal::ToValue(a, c));
}

}  // namespace tilewright::lowering::functions

#endif  // TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_VALUE_H_
