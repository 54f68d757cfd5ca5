// Resize and Upsample. Sizes are known when compiling, so where each output
// position reads from and with which weights are constant tables.
#include <algorithm>
#include <functional>
#include <optional>
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
#include "frontends/onnx/ops/interpolation.h"
#include "frontends/onnx/ops/resize_spec.h"
#include "frontends/onnx/ops/resize_table.h"

namespace tilewright {
namespace {

absl::Status InferResize(OpContext& op) {
  TW_ASSIGN_OR_RETURN(ResizeSpec spec, ReadResize(op));
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    const double taps =
        spec.antialias ? 2 + 4 / std::min(spec.scale[d], 1.0) : 4;
    if (taps * static_cast<double>(spec.shape[d]) > 4 * kLargestResize &&
        !spec.Keeps(static_cast<int>(d), op.shape(0)[d])) {
      return op.Unsupported("dimension ", d, " of ", ShapeText(op.shape(0)),
                            " resized by ", spec.scale[d]);
    }
  }
  TW_RETURN_IF_ERROR(RequireType(
      op, 0,
      spec.mode == ResizeMode::kNearest ? TypeClass::kAny : TypeClass::kFloat));
  op.SetOutput(0, op.dtype(0), std::move(spec.shape));
  return absl::OkStatus();
}

// Whether some outputs come from outside of the data.
bool ReachesOutside(const ResizeSpec& spec, const Shape& from) {
  for (int d = 0; d < static_cast<int>(from.size()); ++d) {
    const OutputRange range = OutputsInside(spec, d, from[d]);
    if (range.end - range.first < spec.shape[d]) return true;
  }
  return false;
}

// The value of output `index`, or what is outside of the data.
Expr InsideOr(const ResizeSpec& spec, const Shape& from,
              absl::Span<const Expr> index, const Expr& value) {
  Expr inside;
  for (int d = 0; d < static_cast<int>(from.size()); ++d) {
    const OutputRange range = OutputsInside(spec, d, from[d]);
    inside = AndAll(inside, InBounds(index[d] - Expr::Int(range.first),
                                     range.end - range.first, range.first > 0,
                                     range.end < spec.shape[d]));
  }
  return inside
             ? SelectExpr(inside, value, Literal(value.dtype(), spec.outside))
             : value;
}

// Each output position copies one element.
absl::Status ImportNearest(ImportContext& in, const ResizeSpec& spec) {
  const Shape& from = in.op().shape(0);
  std::vector<Positions> positions;
  for (int d = 0; d < static_cast<int>(from.size()); ++d) {
    std::vector<int64_t> position;
    for (int64_t o = 0; o < spec.shape[d]; ++o)
      position.push_back(NearestPosition(spec, d, from[d], o));
    TW_ASSIGN_OR_RETURN(
        Positions one,
        Positions::Create(in, d, position, 1, from[d], FindSteps(position)));
    positions.push_back(std::move(one));
  }
  const auto at = [&](absl::Span<const Expr> index) {
    std::vector<Expr> at;
    for (size_t d = 0; d < from.size(); ++d)
      at.push_back(positions[d].At(in, index[d], Expr::Int(0)));
    return at;
  };
  if (!ReachesOutside(spec, from)) return EmitMove(in, false, at);
  in.EmitElementwise(0, "resize", [&](absl::Span<const Expr> index) {
    return InsideOr(spec, from, index, in.At(in.input(0), at(index)));
  });
  return absl::OkStatus();
}

// `x` with the zeros around it that the interpolations `along` read.
TensorId PadFor(ImportContext& in, const std::string& name, TensorId x,
                absl::Span<const Interpolation> along) {
  std::vector<int64_t> before(in.shape_of(x).size(), 0), behind = before;
  for (const Interpolation& one : along) {
    before[one.dimension()] = one.before();
    behind[one.dimension()] = one.behind();
  }
  return PadDims(in, in.Name(0, name), x, before, behind,
                 Literal(in.dtype_of(x), 0));
}

// All dimensions at once, which has few terms: a sum of weighted sums, the last
// dimension inside.
absl::Status ImportTogether(ImportContext& in, const ResizeSpec& spec,
                            const std::vector<int>& axes, DType acc) {
  std::vector<Interpolation> along;
  for (const int d : axes) {
    TW_ASSIGN_OR_RETURN(
        Interpolation one,
        Interpolation::Create(in, spec, d, in.op().shape(0)[d], acc));
    along.push_back(std::move(one));
  }
  const TensorId x = PadFor(in, "pad", in.input(0), along);
  in.EmitElementwise(0, "resize", [&](absl::Span<const Expr> index) {
    const std::function<Expr(size_t, std::vector<Expr>)> sum =
        [&](size_t step, std::vector<Expr> at) {
          if (step == along.size()) return CastTo(acc, in.At(x, std::move(at)));
          Expr total;
          for (int64_t tap = 0; tap < along[step].taps(); ++tap) {
            const Expr number = Expr::Int(tap);
            at[along[step].dimension()] = along[step].At(in, index, number);
            const Expr term = Binary(Op::kMul, sum(step + 1, at),
                                     along[step].Weight(in, index, number));
            total = tap == 0 ? term : Binary(Op::kAdd, total, term);
          }
          return total;
        };
    return InsideOr(spec, in.op().shape(0), index,
                    sum(0, {index.begin(), index.end()}));
  });
  return absl::OkStatus();
}

// One dimension after the other.
absl::Status ImportInTurn(ImportContext& in, const ResizeSpec& spec,
                          const std::vector<int>& axes, DType acc) {
  const OpContext& op = in.op();
  const bool reaches_outside = ReachesOutside(spec, op.shape(0));
  Shape shape = op.shape(0);
  TensorId x = in.input(0);
  for (size_t step = 0; step < axes.size(); ++step) {
    const int d = axes[step];
    const bool is_output = step + 1 == axes.size() && !reaches_outside;
    TW_ASSIGN_OR_RETURN(const Interpolation along,
                        Interpolation::Create(in, spec, d, shape[d], acc));
    const TensorId source = PadFor(in, absl::StrCat("pad", d), x, {along});
    shape[d] = spec.shape[d];
    x = in.Reduction(
        in.Name(0, is_output ? "" : absl::StrCat("along", d)),
        is_output ? op.dtype(0) : acc, AxesOf(shape), {{"tap", along.taps()}},
        Combiner::Kind::kSum, "resize",
        [&](absl::Span<const Expr> index, absl::Span<const Expr> tap) {
          std::vector<Expr> at(index.begin(), index.end());
          at[d] = along.At(in, index, tap[0]);
          return Binary(Op::kMul, CastTo(acc, in.At(source, std::move(at))),
                        along.Weight(in, index, tap[0]));
        });
  }
  if (!reaches_outside) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "resize", [&](absl::Span<const Expr> index) {
    return InsideOr(spec, op.shape(0), index, in.Load(x, index));
  });
  return absl::OkStatus();
}

absl::Status ImportResize(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const ResizeSpec spec, ReadResize(op));
  std::vector<int> axes;
  for (int d = 0; d < op.rank(0); ++d) {
    if (!spec.Keeps(d, op.shape(0)[d])) axes.push_back(d);
  }
  if (axes.empty()) {
    in.SetOutput(0, in.input(0));
    return absl::OkStatus();
  }
  if (spec.mode == ResizeMode::kNearest) return ImportNearest(in, spec);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  if (spec.mode == ResizeMode::kLinear && !spec.antialias && axes.size() <= 2)
    return ImportTogether(in, spec, axes, acc);
  return ImportInTurn(in, spec, axes, acc);
}

constexpr OpDef kOps[] = {
    {"Resize", 10, 2, 2, InferResize, ImportResize},
    {"Resize", 11, 1, 4, InferResize, ImportResize},
    {"Upsample", 7, 1, 1, InferResize, ImportResize},
    {"Upsample", 9, 2, 2, InferResize, ImportResize},
};

}  // namespace

absl::Span<const OpDef> ResizeOps() { return kOps; }

}  // namespace tilewright
