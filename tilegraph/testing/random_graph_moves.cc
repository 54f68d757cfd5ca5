// Computes that put elements elsewhere.
#include <utility>

#include "tilegraph/testing/random_graph_builder.h"

namespace tilewright {

TensorId RandomGraphBuilder::AddTranspose(TensorId x) {
  const std::vector<int64_t> shape = ShapeOf(x);
  std::vector<int> order(shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  random_.Shuffle(absl::MakeSpan(order));
  std::vector<Index> at(shape.size());
  for (const int d : order) at[d] = Spatial(shape[d]);
  return Finish(Read(x, at));
}

TensorId RandomGraphBuilder::AddSplit(TensorId x) {
  const std::vector<int64_t> shape = ShapeOf(x);
  const size_t axis = random_.Index(shape.size());
  std::vector<int64_t> divisors;
  for (int64_t d = 2; d < shape[axis]; ++d) {
    if (shape[axis] % d == 0) divisors.push_back(d);
  }
  const int64_t inner = divisors.empty()
                            ? (random_.Bernoulli(0.5) ? 1 : shape[axis])
                            : divisors[random_.Index(divisors.size())];
  const bool swap =
      axis > 0 && random_.Bernoulli(0.5);  // [l, h·d] -> [h, l, d]
  std::vector<Index> at(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == axis || (swap && d + 1 == axis)) {
      if (d != axis) continue;
      const Index high = Spatial(shape[axis] / inner);
      if (swap) at[axis - 1] = Spatial(shape[axis - 1]);
      const Index low = Spatial(inner);
      at[axis] = {high.expr * Expr::Int(inner) + low.expr, shape[axis]};
    } else {
      at[d] = Spatial(shape[d]);
    }
  }
  return Finish(Read(x, at));
}

TensorId RandomGraphBuilder::AddMerge(TensorId x) {
  const std::vector<int64_t> shape = ShapeOf(x);
  const size_t last = 1 + random_.Index(shape.size() - 1);
  // [h, l, d] -> [l, h·d] when an axis lies between, else two neighbours.
  const size_t first =
      last >= 2 && random_.Bernoulli(0.5) ? last - 2 : last - 1;
  std::vector<Index> at(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == first) continue;
    if (d != last) {
      at[d] = Spatial(shape[d]);
      continue;
    }
    const Index fused = Spatial(shape[first] * shape[last]);
    at[first] = {FloorDiv(fused.expr, Expr::Int(shape[last])), shape[first]};
    at[last] = {FloorMod(fused.expr, Expr::Int(shape[last])), shape[last]};
  }
  return Finish(Read(x, at));
}

TensorId RandomGraphBuilder::AddWindow(TensorId x) {
  const std::vector<int64_t> shape = ShapeOf(x);
  const size_t axis = random_.Index(shape.size());
  const DType dtype = graph_.tensor(x).dtype;
  std::vector<int64_t> out_shape = shape;
  const bool pad = random_.Bernoulli(0.5) || shape[axis] == 1;
  const int64_t before = random_.UniformInt(0, 2),
                after = random_.UniformInt(0, 2);
  const int64_t start = random_.UniformInt(0, shape[axis] - 1),
                step = random_.UniformInt(1, 3);
  out_shape[axis] = pad ? shape[axis] + before + after
                        : (shape[axis] - start + step - 1) / step;
  std::vector<Index> at = SpatialLike(out_shape);
  if (TooLarge()) return -1;
  const Expr index = pad ? at[axis].expr - Expr::Int(before)
                         : at[axis].expr * Expr::Int(step) + Expr::Int(start);
  std::vector<Expr> indices;
  for (const Index& i : at) indices.push_back(i.expr);
  indices[axis] = index;
  const Expr load = graph_.Load(x, std::move(indices));
  if (!pad) return Finish(load);
  const Expr inside = Op2(Op::kAnd, Op2(Op::kGe, index, Expr::Int(0)),
                          Op2(Op::kLt, index, Expr::Int(shape[axis])));
  return Finish(Expr::Make(Op::kSelect, {inside, load, Number(0, dtype)}));
}

TensorId RandomGraphBuilder::AddConcat(TensorId x, TensorId y) {
  const std::vector<int64_t> shape = ShapeOf(x);
  const size_t axis = random_.Index(shape.size());
  if (y < 0) {
    std::vector<int64_t> other = shape;
    other[axis] = random_.UniformInt(1, 3);
    y = DrawInput(Fit(std::move(other), options_.max_elements));
  }
  const std::vector<int64_t> other = ShapeOf(y);
  const size_t back = shape.size() - axis;  // The axis counted from the end.
  const int64_t extent = other.size() >= back ? other[other.size() - back] : 1;
  std::vector<int64_t> out_shape = shape;
  out_shape[axis] += extent;
  std::vector<Index> at = SpatialLike(out_shape);
  if (TooLarge()) return -1;
  const Expr first = Op2(Op::kLt, at[axis].expr, Expr::Int(shape[axis]));
  const Expr behind = at[axis].expr - Expr::Int(shape[axis]);
  at[axis].extent = shape[axis];
  const Expr a = Read(x, at);
  at[axis] = {behind, extent};
  Expr b = Read(y, at);
  if (a.dtype() != b.dtype()) b = Expr::Cast(a.dtype(), b);
  return Finish(Expr::Make(Op::kSelect, {first, a, b}));
}

}  // namespace tilewright
