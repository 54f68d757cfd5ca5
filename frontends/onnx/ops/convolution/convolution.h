// Shared by Conv, ConvTranspose and the integer convolutions.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_CONVOLUTION_CONVOLUTION_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_CONVOLUTION_CONVOLUTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {

// `x` [n, c, spatial...] within a frame of `outside`, `window`'s paddings wide;
// itself if there are none.
TensorId PadFrame(ImportContext& in, TensorId x,
                  const std::vector<WindowDim>& window, const Expr& outside);
// Input 0 of the node within a frame of zeros.
TensorId PadWithZeros(ImportContext& in, const std::vector<WindowDim>& window);
// The axes of a convolution: n, oc, spatial ones; and those it sums over: ic
// and the kernel's.
std::vector<NamedAxis> ConvolutionAxes(int64_t batch, int64_t channels,
                                       const std::vector<WindowDim>& window);
std::vector<NamedAxis> ConvolutionTerms(int64_t channels,
                                        const std::vector<WindowDim>& window);

// Calls `fn` with the place of every element of `shape`, in order.
void ForEachPlace(const Shape& shape,
                  const std::function<void(absl::Span<const int64_t>)>& fn);

// The channel of x that term `ic` of output channel `oc` reads, where each of
// `groups` has channels_in and channels_out.
Expr GroupedChannel(const Expr& oc, const Expr& ic, int64_t groups,
                    int64_t channels_in, int64_t channels_out);

// The sum of `terms` over (ic, kernel...) for every (n, oc, spatial...), role
// kConvolution, then the bias [oc], if it is not -1, as a compute of its own,
// hint "bias". Terms have the accumulator's dtype; `suffix` of output 0 names
// the result.
TensorId AddConvolution(ImportContext& in, const std::string& suffix,
                        const std::vector<WindowDim>& window,
                        int64_t channels_out, int64_t channels_in,
                        TensorId bias, const Terms& terms);
// Output 0 of a node with inputs x, w and perhaps a bias.
void EmitConvolution(ImportContext& in, const std::vector<WindowDim>& window,
                     int64_t channels_out, int64_t channels_in,
                     const Terms& terms);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_CONVOLUTION_CONVOLUTION_H_
