// How a reduction joins values: a pure function of two k-tuples with an
// identity (design: ir.md, "Tensor expressions").
#ifndef TILEWRIGHT_TILEGRAPH_IR_COMBINER_H_
#define TILEWRIGHT_TILEGRAPH_IR_COMBINER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright {

class Combiner {
 public:
  enum class Kind : uint8_t {
    kSum,
    kProd,
    kMax,
    kMin,
    kArgMax,
    kArgMin,     // (value, i64 index), the first index wins ties; NaN wins over
                 // numbers, as in ONNX's reference
    kWelford,    // (mean, M2, count), all in the accumulator dtype
    kMaxSumExp,  // (max, sum of exp(x - max))
  };

  // `acc` is the accumulator dtype: f32 for f16, bf16 and f32; i32 for i8 and
  // u8; else the element's own.
  Combiner(Kind kind, DType acc) : kind_(kind), acc_(acc) {}
  static DType DefaultAccumulator(DType element);
  // Whether the kind has a meaning in that accumulator: sums of numbers,
  // Welford and max-sum-exp of floats, the others of anything.
  static bool Supports(Kind kind, DType acc);

  Kind kind() const { return kind_; }
  DType acc() const { return acc_; }
  int arity() const;
  DType component_dtype(int i) const;
  // The tuple that changes nothing: the value of masked-off elements, and of an
  // empty reduction.
  std::vector<Expr> Identity() const;
  // combine(a, b), component by component. `a` is the accumulator.
  std::vector<Expr> Combine(absl::Span<const Expr> a,
                            absl::Span<const Expr> b) const;
  bool associative() const { return true; }
  // Order may be changed freely (kArgMax and kArgMin carry the index, so they
  // are too).
  bool commutative() const { return true; }
  // Sum, prod, max, min over integers small enough to be exact, and
  // comparisons: results must match bit for bit.
  bool exact_on_integers() const;

  // "sum:f32"
  std::string ToString() const;
  static std::optional<Combiner> Parse(std::string_view text);
  friend bool operator==(const Combiner& a, const Combiner& b) {
    return a.kind_ == b.kind_ && a.acc_ == b.acc_;
  }

 private:
  Kind kind_;
  DType acc_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_COMBINER_H_
