// Winograd's minimal filtering for convolutions of 3x3 with stride 1 (Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2015): F(m, 3)
// computes m x m outputs from tiles of t x t inputs, t = m + 2, with t^2
// products instead of 9 m^2. A convolution becomes
//
//   U[a, b, o, c]          = (G W G^T)[a, b]    a constant, made here
//   V[a, b, n, y, x, c]    = (B^T d B)[a, b]    of the tile at (m y, m x)
//   M[a, b, n, y, x, o]    = sum over c of U * V
//   Y[n, o, h, w]          = (A^T M A)[h mod m, w mod m] of its tile
//
// with hints "winograd_input", "winograd" and "winograd_output".
#ifndef TILEWRIGHT_TILEGRAPH_WINOGRAD_H_
#define TILEWRIGHT_TILEGRAPH_WINOGRAD_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tilegraph/graph_rewrite.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright {

inline constexpr char kWinogradInputHint[] = "winograd_input";
inline constexpr char kWinogradHint[] = "winograd";
inline constexpr char kWinogradOutputHint[] = "winograd_output";

// A convolution that could be rewritten.
struct WinogradCase {
  int64_t batch, in_channels, out_channels, height, width;  // of the output
  std::string name = {};                                    // of the output

  int64_t tiles(int64_t m) const {
    return batch * ((height + m - 1) / m) * ((width + m - 1) / m);
  }
};

// The name of the convolution that a tensor with one of those hints is part of;
// nullopt: it is part of none.
std::optional<std::string> WinogradConvolution(const Tensor& tensor);

// Rewrites every convolution for which `choose` gives m = 2 or 4; 0 leaves it
// alone. Errors of F(2, 3) are those of the direct form, of F(4, 3) 4 to 10
// times as large.
RewrittenGraph RewriteWinograd(
    const TensorGraph& graph,
    const std::function<int(const WinogradCase&)>& choose);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_WINOGRAD_H_
