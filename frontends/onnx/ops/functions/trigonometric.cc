// Hyperbolic functions and the inverses of those and of sine, cosine and
// tangent. Each errs by a few units in the last place wherever it is defined,
// in f32 and in f64: where a difference of large numbers would be left, it is
// made another way.
#include <cmath>

#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/activation/activation_functions.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright {
namespace {

// (sinh(x) / x - 1) / x^2 as a series in x^2: one over 3!, 5!, ... of which
// f32 needs the first five for |x| < 1.
constexpr double kSinhSeries[] = {1.0 / 6,
                                  1.0 / 120,
                                  1.0 / 5040,
                                  1.0 / 362880,
                                  1.0 / 39916800,
                                  1.0 / 6227020800,
                                  1.0 / 1307674368000,
                                  1.0 / 355687428096000,
                                  1.0 / 121645100408832000};

// (atan(x) / x - 1) / x^2 as a polynomial in x^2 for |x| <= 1, which
// interpolates at the Chebyshev nodes. Relative errors of x (1 + x^2 p(x^2)):
// 2.7e-10 and 5.5e-19.
constexpr double kAtanSingle[] = {
    -0.33333333293301176, 0.19999990275947271,   -0.14285317963907304,
    0.1110470678864422,   -0.09036742342070782,  0.0741749696430051,
    -0.05760716083128117, 0.038327445983064846,  -0.019261081322765883,
    0.00620725453378005,  -0.0009362994719496015};
constexpr double kAtanDouble[] = {
    -0.3333333333333333,    0.1999999999999992,    -0.14285714285701234,
    0.11111111110268297,    -0.0909090906193528,   0.07692307078827029,
    -0.06666657934573768,   0.05882264416776449,   -0.052624922290256754,
    0.04758080083637821,    -0.043306538430670664, 0.03938687540798632,
    -0.035271331066871296,  0.030330719265790507,  -0.024191345810140718,
    0.01718398172211335,    -0.010412153260359241, 0.005140912856746939,
    -0.0019612554271685326, 0.0005376839297396244, -9.371186345052626e-05,
    7.767624330289919e-06};

// x (1 + x^2 p(x^2)); x itself if it is a zero.
Expr OddSeries(const Expr& x, absl::Span<const double> p) {
  const Expr square = Mul(x, x);
  Expr value = Literal(x.dtype(), p.back());
  for (size_t i = p.size() - 1; i-- > 0;) value = Add(Mul(value, square), p[i]);
  return Mul(x, Add(Mul(value, square), 1));
}

Expr IsAbove(const Expr& x, double bound) {
  return Binary(Op::kGt, x, Literal(x.dtype(), bound));
}

Expr WithSignOf(const Expr& x, const Expr& magnitude) {
  return IfBelow(x, 0, Unary(Op::kNeg, magnitude), magnitude);
}

// e^x / 2 for x >= 0, infinite only where that is.
Expr HalfExp(const Expr& x) {
  // For larger x, x - shift is exact and e^shift is nearly so.
  const double shift = x.dtype() == DType::kFloat64 ? 375.5 : 85.5;
  const DType t = x.dtype();
  const Expr is_large = IsAbove(x, shift);
  const Expr by = SelectExpr(is_large, Literal(t, shift), Literal(t, 0));
  const Expr factor =
      SelectExpr(is_large, Literal(t, std::exp(shift) / 2), Literal(t, 0.5));
  return Mul(Unary(Op::kExp, Sub(x, by)), factor);
}

Expr Sinh(const Expr& x) {
  const Expr size = Unary(Op::kAbs, x);
  const Expr half = HalfExp(size);
  const Expr rest = Div(Literal(x.dtype(), 0.25), half);
  const absl::Span<const double> series = kSinhSeries;
  return IfBelow(
      size, 1,
      OddSeries(x, x.dtype() == DType::kFloat64 ? series : series.first(5)),
      WithSignOf(x, Sub(half, rest)));
}

Expr Cosh(const Expr& x) {
  const Expr half = HalfExp(Unary(Op::kAbs, x));
  return Add(half, Div(Literal(x.dtype(), 0.25), half));
}

// log(1 + u). Where 1 + u is rounded, so that it keeps another u, the result is
// scaled by how much larger u is (Kahan). REQUIRES: u is 0, or 1 + u is not 1.
Expr LogOnePlus(const Expr& u) {
  const Expr sum = Add(u, 1);
  const Expr kept = Add(sum, -1);
  return Mul(Unary(Op::kLog, sum),
             SelectExpr(Binary(Op::kEq, kept, u), Literal(u.dtype(), 1),
                        Div(u, kept)));
}

// log(1 + u), or log(2 x) where the square of x would overflow.
Expr LogOnePlusOrTwice(const Expr& u, const Expr& x) {
  const DType t = x.dtype();
  const Expr is_large = IsAbove(x, 0x1p60);
  return Add(LogOnePlus(SelectExpr(is_large, x, u)),
             SelectExpr(is_large, Literal(t, M_LN2), Literal(t, 0)));
}

// x where 1 + u is 1, so that the function is x to all its digits.
Expr UnlessTiny(const Expr& u, const Expr& x, const Expr& magnitude) {
  return SelectExpr(Binary(Op::kEq, Add(u, 1), Literal(u.dtype(), 1)), x,
                    WithSignOf(x, magnitude));
}

// |x| + sqrt(x^2 + 1) = 1 + u.
Expr Asinh(const Expr& x) {
  const Expr size = Unary(Op::kAbs, x);
  const Expr square = Mul(size, size);
  const Expr root = Unary(Op::kSqrt, Add(square, 1));
  const Expr u = Add(size, Div(square, Add(root, 1)));
  return UnlessTiny(u, x, LogOnePlusOrTwice(u, size));
}

// x + sqrt(x^2 - 1) = 1 + u.
Expr Acosh(const Expr& x) {
  const Expr above = Add(x, -1);
  const Expr root = Unary(Op::kSqrt, Mul(above, Add(x, 1)));
  return IfBelow(x, 1, Literal(x.dtype(), std::nan("")),
                 LogOnePlusOrTwice(Add(above, root), x));
}

// (1 + |x|) / (1 - |x|) = 1 + u.
Expr Atanh(const Expr& x) {
  const Expr size = Unary(Op::kAbs, x);
  const Expr u = Div(Add(size, size), Sub(Literal(x.dtype(), 1), size));
  return UnlessTiny(u, x, Mul(LogOnePlus(u), 0.5));
}

// Above 1: a right angle less the angle of 1 / x.
Expr Atan(const Expr& x) {
  const DType t = x.dtype();
  const Expr is_steep = IsAbove(Unary(Op::kAbs, x), 1);
  const Expr angle =
      OddSeries(SelectExpr(is_steep, Div(Literal(t, -1), x), x),
                t == DType::kFloat64 ? absl::MakeConstSpan(kAtanDouble)
                                     : absl::MakeConstSpan(kAtanSingle));
  return SelectExpr(is_steep, Add(WithSignOf(x, Literal(t, M_PI_2)), angle),
                    angle);
}

Expr Asin(const Expr& x) {
  const Expr one = Literal(x.dtype(), 1);
  return Atan(Div(x, Unary(Op::kSqrt, Mul(Sub(one, x), Add(one, x)))));
}

// Twice the angle whose tangent is sqrt((1 - x) / (1 + x)).
Expr Acos(const Expr& x) {
  const Expr one = Literal(x.dtype(), 1);
  return Mul(Atan(Unary(Op::kSqrt, Div(Sub(one, x), Add(one, x)))), 2);
}

// F of fp16 and bf16 is computed in fp32.
template <Expr (*F)(const Expr&)>
Expr Wide(const Expr& x) {
  return F(CastTo(Combiner::DefaultAccumulator(x.dtype()), x));
}

constexpr OpDef kOps[] = {
    {"Sinh", 9, 1, 1, InferSameFloat, ImportUnary<Wide<Sinh>>},
    {"Cosh", 9, 1, 1, InferSameFloat, ImportUnary<Wide<Cosh>>},
    {"Asinh", 9, 1, 1, InferSameFloat, ImportUnary<Wide<Asinh>>},
    {"Acosh", 9, 1, 1, InferSameFloat, ImportUnary<Wide<Acosh>>},
    {"Atanh", 9, 1, 1, InferSameFloat, ImportUnary<Wide<Atanh>>},
    {"Asin", 7, 1, 1, InferSameFloat, ImportUnary<Wide<Asin>>},
    {"Acos", 7, 1, 1, InferSameFloat, ImportUnary<Wide<Acos>>},
    {"Atan", 7, 1, 1, InferSameFloat, ImportUnary<Wide<Atan>>},
};

}  // namespace

absl::Span<const OpDef> TrigonometricOps() { return kOps; }

}  // namespace tilewright
