// Winograd's minimal filtering for convolutions of 3x3 with stride 1 (Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2015): F(m, 3)
// computes m x m outputs from tiles of t x t inputs, t = m + 2, with t^2
// products instead of 9 m^2. A convolution becomes
//
//   U[a, b, o, c]          = (G W G^T)[a, b]    of constant weights
//   V[a, b, n, y, x, c]    = (B^T d B)[a, b]    of the tile at (m y, m x)
//   M[a, b, n, y, x, o]    = sum over c of U * V
//   Y[n, o, h, w]          = (A^T M A)[h mod m, w mod m] of its tile
//
// In a model's graph it stays a convolution, marked as one that may be computed
// so; the schedule of its group decides whether it is, and makes it one of
// these (sketch/replay/winograd_form.h).
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Whether its role is ComputeRole::kWinograd2 or kWinograd4. F(2, 3) errs as
// the direct form does, F(4, 3) two to three times as much
// (docs/results/winograd.md); the second allows both.
bool MayBeWinograd(const Tensor& tensor);
// Whether F(4, 3) may compute one of the graph's convolutions.
bool MayHaveLargeTiles(const TensorGraph& graph);

struct WinogradCase {
  int64_t batch, in_channels, out_channels, height, width;  // of the output

  int64_t tiles(int64_t m) const {
    return batch * ((height + m - 1) / m) * ((width + m - 1) / m);
  }
};

// Gives `role`, one of the two, to every convolution for which `choose` gives
// m = 2 or 4, and makes its data large enough for whole tiles of F(m, 3): by
// more zeros of the padding that there is, or one of its own. 0 leaves it
// alone.
RewrittenGraph MarkWinograd(
    const TensorGraph& graph, ComputeRole role,
    const std::function<int(const WinogradCase&)>& choose);

// A convolution of 3x3 with stride 1 that reads nothing outside its data
// [n, c, h, w], with constant weights [o, c, 3, 3].
struct WinogradConvolution {
  TensorId output, data, weights;
  WinogradCase shape;
};

// `id` as such a convolution, if it is marked.
std::optional<WinogradConvolution> AsWinograd(const TensorGraph& graph,
                                              TensorId id);
// The marked convolution, if nothing else reads its weights; nullopt if there
// is none, or several.
std::optional<WinogradConvolution> FindWinograd(const TensorGraph& graph);
// The m that its mark allows and its data is large enough for, ascending.
std::vector<int> WinogradTiles(const TensorGraph& graph,
                               const WinogradConvolution& convolution);

// The graph with the convolution as F(m, 3): V and M are named as the
// convolution with ".input" and ".products", Y as it was. U has the name of the
// weights, in their place, and no value: that is WinogradFilters of theirs.
// REQUIRES: FindWinograd has found it, and m is one of WinogradTiles.
RewrittenGraph ToWinograd(const TensorGraph& graph,
                          const WinogradConvolution& convolution, int m);

// U of weights [o, c, 3, 3] of f32, rounded once.
HostTensor WinogradFilters(const HostTensor& weights, int m);
std::vector<int64_t> WinogradFilterShape(absl::Span<const int64_t> weights,
                                         int m);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_H_
