#include "frontends/onnx/ops/convolution/convolution.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {

TensorId PadFrame(ImportContext& in, TensorId x,
                  const std::vector<WindowDim>& window, const Expr& outside) {
  std::vector<int64_t> before(2, 0), behind(2, 0);
  for (const WindowDim& dim : window) {
    before.push_back(dim.pad_before);
    behind.push_back(dim.pad_after);
  }
  return PadDims(in, in.Name(0, "pad"), x, before, behind, outside);
}

TensorId PadWithZeros(ImportContext& in, const std::vector<WindowDim>& window) {
  return PadFrame(in, in.input(0), window, Literal(in.op().dtype(0), 0));
}

std::vector<NamedAxis> ConvolutionAxes(int64_t batch, int64_t channels,
                                       const std::vector<WindowDim>& window) {
  const int spatial = static_cast<int>(window.size());
  std::vector<NamedAxis> axes = {{"n", batch}, {"oc", channels}};
  for (int d = 0; d < spatial; ++d)
    axes.push_back(
        {absl::StrCat("o", SpatialName(d, spatial)), window[d].output});
  return axes;
}

std::vector<NamedAxis> ConvolutionTerms(int64_t channels,
                                        const std::vector<WindowDim>& window) {
  const int spatial = static_cast<int>(window.size());
  std::vector<NamedAxis> terms = {{"ic", channels}};
  for (int d = 0; d < spatial; ++d)
    terms.push_back(
        {absl::StrCat("k", SpatialName(d, spatial)), window[d].kernel});
  return terms;
}

void ForEachPlace(const Shape& shape,
                  const std::function<void(absl::Span<const int64_t>)>& fn) {
  Shape at(shape.size(), 0);
  for (int64_t i = Product(shape, 0, shape.size()); i > 0; --i) {
    fn(at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

Expr GroupedChannel(const Expr& oc, const Expr& ic, int64_t groups,
                    int64_t channels_in, int64_t channels_out) {
  if (groups == 1) return ic;
  return FloorDiv(oc, Expr::Int(channels_out)) * Expr::Int(channels_in) + ic;
}

TensorId AddConvolution(ImportContext& in, const std::string& suffix,
                        const std::vector<WindowDim>& window,
                        int64_t channels_out, int64_t channels_in,
                        TensorId bias, const Terms& terms) {
  const DType t = in.op().dtype(0);
  const DType acc = Combiner::DefaultAccumulator(t);
  const bool has_bias = bias >= 0;
  const std::string apart =
      suffix.empty() ? "conv" : absl::StrCat(suffix, ".conv");
  const TensorId conv =
      in.Reduction(in.Name(0, has_bias ? apart : suffix), has_bias ? acc : t,
                   ConvolutionAxes(in.op().shape(0)[0], channels_out, window),
                   ConvolutionTerms(channels_in, window), Combiner::Kind::kSum,
                   ComputeRole::kConvolution, terms);
  if (!has_bias) return conv;
  return in.Elementwise(
      in.Name(0, suffix), t, in.shape_of(conv), "bias",
      [&](absl::Span<const Expr> index) {
        return CastTo(t, Binary(Op::kAdd, in.Load(conv, index),
                                CastTo(acc, in.LoadAligned(bias, index, 1))));
      });
}

void EmitConvolution(ImportContext& in, const std::vector<WindowDim>& window,
                     int64_t channels_out, int64_t channels_in,
                     const Terms& terms) {
  const TensorId bias = in.op().has_input(2) ? in.input(2) : -1;
  in.SetOutput(0, AddConvolution(in, "", window, channels_out, channels_in,
                                 bias, terms));
}

}  // namespace tilewright
