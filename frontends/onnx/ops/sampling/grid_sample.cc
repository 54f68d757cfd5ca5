// GridSample: an image read at positions that are data. Along each dimension
// every output has a few neighbours and their weights, which all channels
// share; the output is the weighted sum over all of them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

enum class Outside { kZeros, kBorder, kReflection };

struct GridSpec {
  int dims = 2;      // of the image
  int64_t taps = 2;  // neighbours along each: 1, 2 or 4
  Outside outside = Outside::kZeros;
  bool align_corners = false;
  DType acc = DType::kFloat32;  // in which everything is computed
};

GridSpec ReadGrid(const OpContext& op) {
  GridSpec spec;
  spec.dims = op.rank(0) - 2;
  const std::string mode = op.String("mode", "linear");
  spec.taps = mode == "nearest"                      ? 1
              : mode == "cubic" || mode == "bicubic" ? 4
                                                     : 2;
  const std::string outside = op.String("padding_mode", "zeros");
  spec.outside = outside == "border"       ? Outside::kBorder
                 : outside == "reflection" ? Outside::kReflection
                                           : Outside::kZeros;
  spec.align_corners = op.Int("align_corners", 0) != 0;
  for (int i = 0; i < 2; ++i) {
    if (op.dtype(i) == DType::kFloat64) spec.acc = DType::kFloat64;
  }
  return spec;
}

absl::Status InferGridSample(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_RETURN_IF_ERROR(RequireType(op, 1, TypeClass::kFloat));
  const Shape& x = op.shape(0);
  const Shape& grid = op.shape(1);
  const int least = op.opset() < 20 ? 4 : 3;
  const int most = op.opset() < 20 ? 4 : 5;
  const int rank = op.rank(0);
  if (rank < least || rank > most) {
    return op.Error("the image has shape ", ShapeText(x), " where ", least,
                    least == most ? "" : absl::StrCat(" to ", most),
                    " dimensions are needed");
  }
  if (op.rank(1) != rank || grid[0] != x[0] || grid.back() != rank - 2) {
    return op.Error("the grid of shape ", ShapeText(grid),
                    " does not hold positions in images of shape ",
                    ShapeText(x));
  }
  Shape shape = grid;
  shape.pop_back();
  shape.insert(shape.begin() + 1, x[1]);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Where one dimension of the image is read.
class GridDimension {
 public:
  // Dimension `d` of the image's, with `extent` positions.
  GridDimension(ImportContext& in, const GridSpec& spec, int d, int64_t extent)
      : spec_(spec),
        extent_(extent),
        least_(spec.align_corners ? 0 : -0.5),
        most_(static_cast<double>(extent) - (spec.align_corners ? 1 : 0.5)) {
    const Shape& grid = in.op().shape(1);
    Shape shape(grid.begin(), grid.end() - 1);
    const TensorId source = in.input(1);
    const TensorId position = in.Elementwise(
        in.Name(0, absl::StrCat("position", d)), spec.acc, shape, "position",
        [&](Index index) {
          std::vector<Expr> at(index.begin(), index.end());
          at.push_back(Expr::Int(spec.dims - 1 - d));  // the last comes first
          return Position(CastTo(spec.acc, in.At(source, std::move(at))));
        });
    shape.insert(shape.begin(), spec.taps);
    from_ = in.Elementwise(
        in.Name(0, absl::StrCat("from", d)), DType::kInt64, shape, "from",
        [&](Index index) {
          const Expr tap = Tap(in.At(position, Behind(index)), index[0]);
          return CastTo(DType::kInt64, spec.outside == Outside::kReflection
                                           ? Reflected(tap)
                                           : tap);
        });
    weight_ = in.Elementwise(in.Name(0, absl::StrCat("weight", d)), spec.acc,
                             shape, "weight", [&](Index index) {
                               return Weight(in.At(position, Behind(index)),
                                             index[0]);
                             });
  }

  // Of output `index`, [n, c, ...].
  Expr At(const ImportContext& in, Index index, const Expr& tap) const {
    const Expr from = in.At(from_, OfTap(index, tap));
    return Binary(Op::kMin, Binary(Op::kMax, from, Expr::Int(0)),
                  Expr::Int(extent_ - 1));
  }
  Expr WeightAt(const ImportContext& in, Index index, const Expr& tap) const {
    return in.At(weight_, OfTap(index, tap));
  }

 private:
  static std::vector<Expr> Behind(Index index) {
    return {index.begin() + 1, index.end()};
  }
  static std::vector<Expr> OfTap(Index index, const Expr& tap) {
    std::vector<Expr> at = {tap, index[0]};
    at.insert(at.end(), index.begin() + 2, index.end());
    return at;
  }
  Expr Number(double value) const { return Literal(spec_.acc, value); }
  Expr Add(const Expr& a, const Expr& b) const {
    return Binary(Op::kAdd, a, b);
  }
  Expr Sub(const Expr& a, const Expr& b) const {
    return Binary(Op::kSub, a, b);
  }
  Expr Mul(const Expr& a, const Expr& b) const {
    return Binary(Op::kMul, a, b);
  }
  // In positions, of what runs from -1 to 1 over the image.
  Expr Position(const Expr& normal) const {
    const auto extent = static_cast<double>(extent_);
    const Expr above = Add(normal, Number(1));
    Expr x = spec_.align_corners
                 ? Mul(Mul(above, Number(0.5)), Number(extent - 1))
                 : Mul(Sub(Mul(above, Number(extent)), Number(1)), Number(0.5));
    if (spec_.taps == 1) x = Unary(Op::kRound, x);
    if (spec_.outside == Outside::kReflection) return Reflected(x);
    if (spec_.outside == Outside::kZeros) return x;
    return SelectExpr(
        Binary(Op::kLt, x, Number(least_)), Number(0),
        SelectExpr(Binary(Op::kGt, x, Number(most_)), Number(extent - 1), x));
  }

  // `x`, reflected at the borders until it lies between them.
  Expr Reflected(const Expr& x) const {
    const double range = most_ - least_;
    if (range == 0) return Number(0);
    const Expr before = Binary(Op::kLt, x, Number(least_));
    const Expr behind = Binary(Op::kGt, x, Number(most_));
    const Expr beyond =
        SelectExpr(before, Sub(Number(least_), x), Sub(x, Number(most_)));
    const Expr times =
        Unary(Op::kFloor, Binary(Op::kDiv, beyond, Number(range)));
    const Expr rest = Sub(beyond, Mul(times, Number(range)));
    const Expr half = Mul(times, Number(0.5));
    const Expr is_even = Binary(Op::kEq, Unary(Op::kFloor, half), half);
    const Expr rising = Add(Number(least_), rest);
    const Expr falling = Sub(Number(most_), rest);
    // Whether it ends above the lower border or below the upper one.
    const Expr rises = Binary(Op::kEq, before, is_even);
    return SelectExpr(Binary(Op::kOr, before, behind),
                      SelectExpr(rises, rising, falling), x);
  }

  // A neighbour of position `x`; it may lie outside.
  Expr Tap(const Expr& x, const Expr& tap) const {
    if (spec_.taps == 1) return x;
    const Expr first = spec_.taps == 4 ? tap - Expr::Int(1) : tap;
    return Add(Unary(Op::kFloor, x), CastTo(spec_.acc, first));
  }
  Expr Weight(const Expr& x, const Expr& tap) const {
    Expr weight = Number(1);
    if (spec_.taps > 1) {
      // How far the neighbour is.
      const Expr distance = Unary(Op::kAbs, Sub(x, Tap(x, tap)));
      weight = spec_.taps == 2 ? Sub(Number(1), distance) : Cubic(distance);
    }
    if (spec_.outside != Outside::kZeros) return weight;
    const Expr at = Tap(x, tap);
    const Expr inside =
        AndAll(Binary(Op::kGe, at, Number(0)),
               Binary(Op::kLe, at, Number(static_cast<double>(extent_ - 1))));
    return SelectExpr(inside, weight, Number(0));
  }

  // Keys, "Cubic convolution interpolation for digital image processing", 1981,
  // with a = -0.75.
  Expr Cubic(const Expr& distance) const {
    constexpr double kA = -0.75;
    const auto polynomial = [&](double c3, double c2, double c1, double c0) {
      Expr value = Number(c3);
      for (const double c : {c2, c1, c0})
        value = Add(Mul(value, distance), Number(c));
      return value;
    };
    return SelectExpr(Binary(Op::kLe, distance, Number(1)),
                      polynomial(kA + 2, -kA - 3, 0, 1),
                      polynomial(kA, -5 * kA, 8 * kA, -4 * kA));
  }

  const GridSpec& spec_;
  int64_t extent_;
  double least_, most_;               // the borders
  TensorId from_ = -1, weight_ = -1;  // [taps, n, ...]
};

absl::Status ImportGridSample(ImportContext& in) {
  const OpContext& op = in.op();
  const GridSpec spec = ReadGrid(op);
  const TensorId x = in.input(0);
  std::vector<GridDimension> dims;
  std::vector<NamedAxis> taps;
  for (int d = 0; d < spec.dims; ++d) {
    dims.emplace_back(in, spec, d, op.shape(0)[2 + d]);
    taps.push_back({absl::StrCat("tap", d), spec.taps});
  }
  const std::vector<NamedAxis> axes = AxesOf(op.output(0).shape);
  const Terms term = [&](Index index, Index tap) {
    std::vector<Expr> at = {index[0], index[1]};
    Expr weight;
    for (int d = 0; d < spec.dims; ++d) {
      at.push_back(dims[d].At(in, index, tap[d]));
      const Expr own = dims[d].WeightAt(in, index, tap[d]);
      weight = weight ? Binary(Op::kMul, weight, own) : own;
    }
    return Binary(Op::kMul, weight, CastTo(spec.acc, in.At(x, std::move(at))));
  };
  in.SetOutput(0, in.Reduction(in.Name(), op.dtype(0), axes, taps,
                               Combiner::Kind::kSum, "gridsample", term));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"GridSample", 16, 2, 2, InferGridSample, ImportGridSample},
};

}  // namespace

absl::Span<const OpDef> GridSampleOps() { return kOps; }

}  // namespace tilewright
