#include "frontends/onnx/ops/normalization/moments.h"

#include "absl/types/span.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

}  // namespace

Moments EmitMoments(ImportContext& in, TensorId x, const Shape& shape,
                    const std::vector<bool>& reduced, Epsilon epsilon,
                    DType acc) {
  double count = 1;
  Shape kept = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d]) continue;
    count *= static_cast<double>(shape[d]);
    kept[d] = 1;
  }
  const TensorId sum = ReduceDims(
      in, in.Name(0, "sum"), acc, shape, reduced, true, Combiner::Kind::kSum,
      "reduce", [&](Index index) { return CastTo(acc, in.Load(x, index)); });
  const TensorId mean =
      in.Elementwise(in.Name(0, "mean"), acc, kept, "mean", [&](Index index) {
        return Div(in.Load(sum, index), Literal(acc, count));
      });
  const TensorId squares =
      ReduceDims(in, in.Name(0, "squares"), acc, shape, reduced, true,
                 Combiner::Kind::kSum, "reduce", [&](Index index) {
                   const Expr centred = Sub(CastTo(acc, in.Load(x, index)),
                                            in.Load(mean, index));
                   return Mul(centred, centred);
                 });
  const TensorId scale =
      in.Elementwise(in.Name(0, "scale"), acc, kept, "scale", [&](Index index) {
        const Expr variance = Div(in.Load(squares, index), Literal(acc, count));
        Expr deviation = Unary(
            Op::kSqrt, epsilon.of_variance == 0
                           ? variance
                           : Add(variance, Literal(acc, epsilon.of_variance)));
        if (epsilon.of_deviation != 0)
          deviation = Add(deviation, Literal(acc, epsilon.of_deviation));
        return Div(Literal(acc, 1), deviation);
      });
  return {mean, scale};
}

}  // namespace tilewright
