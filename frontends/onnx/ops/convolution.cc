#include "frontends/onnx/ops/convolution.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tilewright {

TensorId PadWithZeros(ImportContext& in, const std::vector<WindowDim>& window) {
  const TensorId x = in.input(0);
  bool padded = false;
  Shape shape = in.op().shape(0);
  for (size_t d = 0; d < window.size(); ++d) {
    padded |= window[d].pad_before > 0 || window[d].pad_after > 0;
    shape[2 + d] += window[d].pad_before + window[d].pad_after;
  }
  if (!padded) return x;
  return in.Elementwise(
      in.Name(0, "pad"), in.op().dtype(0), shape, "pad",
      [&](absl::Span<const Expr> index) {
        Expr inside;
        std::vector<Expr> at(index.begin(), index.end());
        for (size_t d = 0; d < window.size(); ++d) {
          const WindowDim& dim = window[d];
          at[2 + d] = index[2 + d] - Expr::Int(dim.pad_before);
          inside =
              AndAll(inside, InBounds(at[2 + d], dim.input, dim.pad_before > 0,
                                      dim.pad_after > 0));
        }
        return SelectExpr(inside, in.At(x, at), Literal(in.op().dtype(0), 0));
      });
}

void EmitConvolution(ImportContext& in, const std::vector<WindowDim>& window,
                     int64_t channels_out, int64_t channels_in,
                     const Terms& terms) {
  const OpContext& op = in.op();
  const int spatial = static_cast<int>(window.size());
  const DType t = op.dtype(0);
  const DType acc = Combiner::DefaultAccumulator(t);
  const bool has_bias = op.has_input(2);
  std::vector<NamedAxis> axes = {{"n", op.shape(0)[0]}, {"oc", channels_out}};
  std::vector<NamedAxis> reduced = {{"ic", channels_in}};
  for (int d = 0; d < spatial; ++d) {
    const std::string name = SpatialName(d, spatial);
    axes.push_back({absl::StrCat("o", name), window[d].output});
    reduced.push_back({absl::StrCat("k", name), window[d].kernel});
  }
  const TensorId conv =
      in.Reduction(in.Name(0, has_bias ? "conv" : ""), has_bias ? acc : t, axes,
                   reduced, Combiner::Kind::kSum, "conv", terms);
  if (!has_bias) {
    in.SetOutput(0, conv);
    return;
  }
  const TensorId bias = in.input(2);
  in.EmitElementwise(0, "bias", [&](absl::Span<const Expr> index) {
    return Binary(Op::kAdd, in.Load(conv, index),
                  CastTo(acc, in.LoadAligned(bias, index, 1)));
  });
}

}  // namespace tilewright
