#include "frontends/onnx/ops/sampling/neighbours.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

std::vector<Expr> Behind(Index index) {
  return {index.begin() + 1, index.end()};
}

}  // namespace

Neighbours::Neighbours(const Interpolation& how, int64_t extent)
    : how_(how),
      extent_(extent),
      least_(how.align_corners ? 0 : -0.5),
      most_(static_cast<double>(extent) - (how.align_corners ? 1 : 0.5)) {}

Expr Neighbours::Placed(const Expr& position) const {
  const Expr x = how_.taps == 1 ? Unary(Op::kRound, position) : position;
  if (how_.outside == Outside::kReflection) return Reflected(x);
  if (how_.outside == Outside::kZeros) return x;
  const Expr last = Number(static_cast<double>(extent_) - 1);
  return SelectExpr(Binary(Op::kLt, x, Number(least_)), Number(0),
                    SelectExpr(Binary(Op::kGt, x, Number(most_)), last, x));
}

void Neighbours::Compute(ImportContext& in, int d, TensorId positions) {
  Shape shape = in.shape_of(positions);
  shape.insert(shape.begin(), how_.taps);
  pixels_ = in.Elementwise(
      in.Name(0, absl::StrCat("from", d)), DType::kInt64, shape, "from",
      [&](Index index) {
        const Expr tap = TapOf(in.At(positions, Behind(index)), index[0]);
        return CastTo(DType::kInt64, how_.outside == Outside::kReflection
                                         ? Reflected(tap)
                                         : tap);
      });
  weights_ = in.Elementwise(in.Name(0, absl::StrCat("weight", d)), how_.acc,
                            shape, "weight", [&](Index index) {
                              return WeightOf(in.At(positions, Behind(index)),
                                              index[0]);
                            });
}

Expr Neighbours::Pixel(const ImportContext& in, const Expr& tap,
                       std::vector<Expr> at) const {
  at.insert(at.begin(), tap);
  const Expr pixel = in.At(pixels_, std::move(at));
  return Binary(Op::kMin, Binary(Op::kMax, pixel, Expr::Int(0)),
                Expr::Int(extent_ - 1));
}

Expr Neighbours::Weight(const ImportContext& in, const Expr& tap,
                        std::vector<Expr> at) const {
  at.insert(at.begin(), tap);
  return in.At(weights_, std::move(at));
}

Expr Neighbours::Number(double value) const { return Literal(how_.acc, value); }

// `x`, reflected at the borders until it lies between them.
Expr Neighbours::Reflected(const Expr& x) const {
  const double range = most_ - least_;
  if (range == 0) return Number(0);
  const Expr before = Binary(Op::kLt, x, Number(least_));
  const Expr behind = Binary(Op::kGt, x, Number(most_));
  const Expr beyond =
      SelectExpr(before, Sub(Number(least_), x), Sub(x, Number(most_)));
  const Expr times = Unary(Op::kFloor, Binary(Op::kDiv, beyond, Number(range)));
  const Expr rest = Sub(beyond, Mul(times, range));
  const Expr half = Mul(times, 0.5);
  const Expr is_even = Binary(Op::kEq, Unary(Op::kFloor, half), half);
  const Expr rising = Add(Number(least_), rest);
  const Expr falling = Sub(Number(most_), rest);
  // Whether it ends above the lower border or below the upper one.
  const Expr rises = Binary(Op::kEq, before, is_even);
  return SelectExpr(Binary(Op::kOr, before, behind),
                    SelectExpr(rises, rising, falling), x);
}

Expr Neighbours::TapOf(const Expr& x, const Expr& tap) const {
  if (how_.taps == 1) return x;
  const Expr first = how_.taps == 4 ? tap - Expr::Int(1) : tap;
  return Add(Unary(Op::kFloor, x), CastTo(how_.acc, first));
}

Expr Neighbours::WeightOf(const Expr& x, const Expr& tap) const {
  Expr weight = Number(1);
  if (how_.taps > 1) {
    // How far the neighbour is.
    const Expr distance = Unary(Op::kAbs, Sub(x, TapOf(x, tap)));
    weight = how_.taps == 2 ? Sub(Number(1), distance) : Cubic(distance);
  }
  if (how_.outside != Outside::kZeros) return weight;
  const Expr at = TapOf(x, tap);
  const Expr last = Number(static_cast<double>(extent_ - 1));
  const Expr inside =
      AndAll(Binary(Op::kGe, at, Number(0)), Binary(Op::kLe, at, last));
  return SelectExpr(inside, weight, Number(0));
}

// Keys, "Cubic convolution interpolation for digital image processing", 1981,
// with a = -0.75.
Expr Neighbours::Cubic(const Expr& distance) const {
  constexpr double kA = -0.75;
  const auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Expr value = Number(c3);
    for (const double c : {c2, c1, c0}) value = Add(Mul(value, distance), c);
    return value;
  };
  return SelectExpr(Binary(Op::kLe, distance, Number(1)),
                    polynomial(kA + 2, -kA - 3, 0, 1),
                    polynomial(kA, -5 * kA, 8 * kA, -4 * kA));
}

Expr WeightedPixel(const ImportContext& in, TensorId x,
                   absl::Span<const Neighbours> along, Index taps,
                   const std::vector<Expr>& position, std::vector<Expr> at,
                   Expr weight) {
  for (size_t d = 0; d < along.size(); ++d) {
    at.push_back(along[d].Pixel(in, taps[d], position));
    const Expr own = along[d].Weight(in, taps[d], position);
    weight = weight ? Mul(weight, own) : own;
  }
  return Mul(weight, CastTo(weight.dtype(), in.At(x, std::move(at))));
}

}  // namespace tilewright
