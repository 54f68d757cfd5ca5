#include "frontends/onnx/ops/signal/fourier_transform.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "frontends/onnx/ops/common.h"

namespace tilewright {

TensorId EmitTransform(ImportContext& in, std::string name,
                       const FourierSpec& spec, TensorId matrix,
                       const Shape& signals, const Sample& sample) {
  std::vector<NamedAxis> axes = AxesOf(signals);
  axes.push_back({"column", 2 * spec.bins});
  const bool is_complex = spec.parts == 2;
  std::vector<NamedAxis> terms = {{"term", spec.terms}};
  if (is_complex) terms.push_back({"part", 2});
  const DType acc = in.dtype_of(matrix);
  return in.Reduction(
      std::move(name), in.op().output(0).dtype, axes, terms,
      Combiner::Kind::kSum, "matmul",
      [&](absl::Span<const Expr> index, absl::Span<const Expr> term) {
        const Expr part = is_complex ? term[1] : Expr::Int(0);
        const Expr value = sample(index.first(signals.size()), term[0], part);
        return Binary(Op::kMul, CastTo(acc, value),
                      in.At(matrix, {term[0], part, index.back()}));
      });
}

}  // namespace tilewright
