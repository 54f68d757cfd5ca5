// Pooling: one reduction over the window, whose guard gives the identity
// outside the input; averages then divide.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

absl::Status InferPool(OpContext& op, TypeClass wanted) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, wanted));
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ReadWindow(op, op.shape(0), {}));
  Shape shape = {op.shape(0)[0], op.shape(0)[1]};
  for (const WindowDim& dim : window) shape.push_back(dim.output);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferMaxPool(OpContext& op) {
  TW_RETURN_IF_ERROR(InferPool(op, TypeClass::kNumeric));
  op.SetOutput(1, DType::kInt64, op.output(0).shape);
  return absl::OkStatus();
}
absl::Status InferAveragePool(OpContext& op) {
  return InferPool(op, TypeClass::kFloat);
}

struct PoolAxes {
  std::vector<NamedAxis> out;
  std::vector<NamedAxis> over;
};

PoolAxes AxesOf(const OpContext& op, const std::vector<WindowDim>& window) {
  PoolAxes axes;
  axes.out = {{"n", op.shape(0)[0]}, {"c", op.shape(0)[1]}};
  const int spatial = static_cast<int>(window.size());
  for (int d = 0; d < spatial; ++d) {
    const std::string name = SpatialName(d, spatial);
    axes.out.push_back({absl::StrCat("o", name), window[d].output});
    axes.over.push_back({absl::StrCat("k", name), window[d].kernel});
  }
  return axes;
}

// Where in the input a window position reads, and whether that is inside
// (empty if always).
struct Position {
  std::vector<Expr> at;
  Expr inside;
};

Position PositionOf(const std::vector<WindowDim>& window,
                    absl::Span<const Expr> out, absl::Span<const Expr> over) {
  Position result;
  result.at = {out[0], out[1]};
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& dim = window[d];
    Expr at = over[d] * Expr::Int(dim.dilation);
    // A single window does not slide.
    if (dim.output > 1) at = out[2 + d] * Expr::Int(dim.stride) + at;
    if (dim.pad_before > 0) at = at - Expr::Int(dim.pad_before);
    result.inside = AndAll(
        result.inside,
        InBounds(at, dim.input, dim.reaches_before(), dim.reaches_past()));
    result.at.push_back(std::move(at));
  }
  return result;
}

// F of the elements, `outside` elsewhere.
TensorId PoolReduction(ImportContext& in, const std::vector<WindowDim>& window,
                       std::string name, DType dtype, Combiner::Kind kind,
                       const Expr& outside,
                       const std::function<Expr(const Expr&)>& f) {
  const TensorId x = in.input(0);
  const PoolAxes axes = AxesOf(in.op(), window);
  return in.Reduction(
      std::move(name), dtype, axes.out, axes.over, kind, "pool",
      [&](absl::Span<const Expr> out, absl::Span<const Expr> over) {
        Position position = PositionOf(window, out, over);
        const Expr value = f(in.At(x, std::move(position.at)));
        return position.inside ? SelectExpr(position.inside, value, outside)
                               : value;
      });
}

Expr Itself(const Expr& x) { return x; }

// Where in the flattened input each window has its maximum; of several, the
// first. What lies outside comes behind all that is inside.
TensorId MaxPositions(ImportContext& in, const std::vector<WindowDim>& window,
                      std::string name) {
  const Shape& shape = in.op().shape(0);
  const DType acc = Combiner::DefaultAccumulator(in.op().dtype(0));
  const TensorId x = in.input(0);
  const PoolAxes axes = AxesOf(in.op(), window);
  const auto unless_outside = [&](Index out, Index over, const Expr& outside,
                                  const auto& value) {
    const Position position = PositionOf(window, out, over);
    return position.inside
               ? SelectExpr(position.inside, value(position.at), outside)
               : value(position.at);
  };
  return in.ArgReduction(
      std::move(name), axes.out, axes.over, Combiner::Kind::kArgMax, "pool",
      [&](Index out, Index over) {
        return unless_outside(out, over, Lowest(acc),
                              [&](const std::vector<Expr>& at) {
                                return CastTo(acc, in.At(x, at));
                              });
      },
      [&](Index out, Index over) {
        return unless_outside(out, over, Highest(DType::kInt64),
                              [&](const std::vector<Expr>& at) {
                                return FlatPosition(at, shape);
                              });
      });
}

// Output 1 counts the positions of each plane row by row, or with
// storage_order 1 column by column.
void EmitIndices(ImportContext& in, const std::vector<WindowDim>& window) {
  const OpContext& op = in.op();
  if (op.Int("storage_order", 0) == 0) {
    in.SetOutput(1, MaxPositions(in, window, in.Name(1)));
    return;
  }
  const Shape& shape = op.shape(0);
  const TensorId rows = MaxPositions(in, window, in.Name(1, "rows"));
  in.EmitElementwise(1, "columns", [&](Index index) {
    std::vector<Expr> at =
        IndexOfFlat(in.At(rows, {index.begin(), index.end()}), shape);
    Shape turned = shape;
    std::reverse(at.begin() + 2, at.end());
    std::reverse(turned.begin() + 2, turned.end());
    return FlatPosition(at, turned);
  });
}

absl::Status ImportMaxPool(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ReadWindow(op, op.shape(0), {}));
  if (op.has_output(0)) {
    in.SetOutput(
        0, PoolReduction(in, window, in.Name(), op.dtype(0),
                         Combiner::Kind::kMax, Lowest(op.dtype(0)), Itself));
  }
  if (op.has_output(1)) EmitIndices(in, window);
  return absl::OkStatus();
}

// How many of the window's positions count, by output position of one
// dimension.
std::vector<int64_t> CountPositions(const WindowDim& dim, bool include_pad) {
  const int64_t first = include_pad ? -dim.pad_before : 0;
  const int64_t end = dim.input + (include_pad ? dim.pad_after : 0);
  std::vector<int64_t> count(dim.output, 0);
  for (int64_t o = 0; o < dim.output; ++o) {
    const int64_t start = o * dim.stride - dim.pad_before;
    // k in [low, high) with first <= start + k * dilation < end.
    const int64_t low =
        start >= first ? 0 : (first - start + dim.dilation - 1) / dim.dilation;
    const int64_t high =
        end <= start ? 0 : (end - start + dim.dilation - 1) / dim.dilation;
    count[o] = std::max<int64_t>(
        0, std::min(high, dim.kernel) - std::min(low, dim.kernel));
  }
  return count;
}

// The sum divided by the number of positions: a literal where it is the same
// everywhere, times one table for each dimension where it is not.
absl::Status EmitAverage(ImportContext& in,
                         const std::vector<WindowDim>& window,
                         bool include_pad) {
  const DType acc = Combiner::DefaultAccumulator(in.op().dtype(0));
  const TensorId sum =
      PoolReduction(in, window, in.Name(0, "sum"), acc, Combiner::Kind::kSum,
                    Literal(in.op().dtype(0), 0), Itself);
  double same = 1;
  std::vector<TensorId> tables(window.size(), -1);
  for (size_t d = 0; d < window.size(); ++d) {
    const std::vector<int64_t> count = CountPositions(window[d], include_pad);
    if (std::all_of(count.begin(), count.end(),
                    [&](int64_t c) { return c == count[0]; })) {
      same *= static_cast<double>(count[0]);
      continue;
    }
    TW_ASSIGN_OR_RETURN(HostTensor table,
                        in.op().NewTensor(acc, {window[d].output}));
    for (size_t o = 0; o < count.size(); ++o) {
      table.Set(static_cast<int64_t>(o),
                Scalar{static_cast<double>(count[o]), 0});
    }
    tables[d] =
        in.Constant(in.Name(0, absl::StrCat("count", d)), std::move(table));
  }
  in.EmitElementwise(0, "average", [&](absl::Span<const Expr> index) {
    Expr count;
    for (size_t d = 0; d < window.size(); ++d) {
      if (tables[d] < 0) continue;
      const Expr own = in.At(tables[d], {index[2 + d]});
      count = count ? Binary(Op::kMul, count, own) : own;
    }
    if (!count) {
      count = Literal(acc, same);
    } else if (same != 1) {
      count = Binary(Op::kMul, count, Literal(acc, same));
    }
    return Binary(Op::kDiv, in.Load(sum, index), count);
  });
  return absl::OkStatus();
}

absl::Status ImportAveragePool(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ReadWindow(in.op(), in.op().shape(0), {}));
  return EmitAverage(in, window, in.op().Int("count_include_pad", 0) != 0);
}

// The window is the whole input.
std::vector<WindowDim> GlobalWindow(const OpContext& op) {
  std::vector<WindowDim> window;
  for (int d = 2; d < op.rank(0); ++d) {
    WindowDim& dim = window.emplace_back();
    dim.input = dim.kernel = op.shape(0)[d];
  }
  return window;
}

absl::Status InferGlobalPool(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 3));
  Shape shape(op.rank(0), 1);
  shape[0] = op.shape(0)[0];
  shape[1] = op.shape(0)[1];
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportGlobalAveragePool(ImportContext& in) {
  return EmitAverage(in, GlobalWindow(in.op()), false);
}

absl::Status ImportGlobalMaxPool(ImportContext& in) {
  const DType t = in.op().dtype(0);
  in.SetOutput(0, PoolReduction(in, GlobalWindow(in.op()), in.Name(), t,
                                Combiner::Kind::kMax, Lowest(t), Itself));
  return absl::OkStatus();
}

// (sum of |x|^p)^(1/p).
absl::Status EmitLpPool(ImportContext& in,
                        const std::vector<WindowDim>& window) {
  const OpContext& op = in.op();
  const int64_t p = op.Int("p", 2);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const auto power = [&](const Expr& x) {
    const Expr wide = CastTo(acc, x);
    if (p == 2) return Mul(wide, wide);
    const Expr size = Unary(Op::kAbs, wide);
    return p == 1
               ? size
               : Binary(Op::kPow, size, Literal(acc, static_cast<double>(p)));
  };
  const TensorId sum = PoolReduction(
      in, window, in.Name(0, p == 1 ? "" : "sum"), p == 1 ? op.dtype(0) : acc,
      Combiner::Kind::kSum, Literal(acc, 0), power);
  if (p == 1) {
    in.SetOutput(0, sum);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "lppool", [&](Index index) {
    const Expr total = in.Load(sum, index);
    return p == 2 ? Unary(Op::kSqrt, total)
                  : Binary(Op::kPow, total,
                           Literal(acc, 1 / static_cast<double>(p)));
  });
  return absl::OkStatus();
}

absl::Status ImportLpPool(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ReadWindow(in.op(), in.op().shape(0), {}));
  return EmitLpPool(in, window);
}

absl::Status ImportGlobalLpPool(ImportContext& in) {
  return EmitLpPool(in, GlobalWindow(in.op()));
}

constexpr OpDef kOps[] = {
    {"MaxPool", 6, 1, 1, InferMaxPool, ImportMaxPool},
    {"AveragePool", 6, 1, 1, InferAveragePool, ImportAveragePool},
    {"LpPool", 6, 1, 1, InferAveragePool, ImportLpPool},
    {"GlobalAveragePool", 6, 1, 1, InferGlobalPool, ImportGlobalAveragePool},
    {"GlobalLpPool", 6, 1, 1, InferGlobalPool, ImportGlobalLpPool},
    {"GlobalMaxPool", 6, 1, 1, InferGlobalPool, ImportGlobalMaxPool},
};

}  // namespace

absl::Span<const OpDef> PoolOps() { return kOps; }

}  // namespace tilewright
