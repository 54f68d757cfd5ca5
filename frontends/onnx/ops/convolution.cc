#include "frontends/onnx/ops/convolution.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tilewright {

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
