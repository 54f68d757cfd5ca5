// The one classification of computes, from their expressions alone: which
// family each belongs to, and which roles its operands and axes have there. It
// guides layouts, cost models and tiles; what may be fused is asked of
// expressions directly (access.h, row_space.h, region.h).
#ifndef TILEWRIGHT_TILEGRAPH_ANALYSIS_FAMILIES_H_
#define TILEWRIGHT_TILEGRAPH_ANALYSIS_FAMILIES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The first that applies.
enum class ComputeFamily : uint8_t {
  kInput,          // no compute
  kPadding,        // its source surrounded by zeros (AsZeroPadding)
  kConcatenation,  // whole tensors behind each other (AsConcatenation)
  kMove,           // transposes, slices, broadcasts (AsMove), gathers
  kElementwise,    // anything else that reduces nothing
  // Two operands are each used again along an axis of the other; with a sliding
  // window a dense convolution.
  kConvolution,
  kContraction,
  // Neighbouring results read overlapping windows: of an image with filters of
  // its channels or groups of them, or of an image alone.
  kDepthwise,
  kPooling,
  kRowReduction,  // each element of some operand is read once (IsRowReduction)
  kReduction,     // anything else that reduces
};
ComputeFamily FamilyOf(const TensorGraph& graph, TensorId id);
std::string_view Name(ComputeFamily family);

// By load of the bodies, in order, then by axis, the spatial ones first:
// whether an index moves with it, beyond a remainder.
std::vector<std::vector<bool>> LoadedAxes(const Compute& compute);
// Whether two operands are each used again along an axis of the other.
bool ReusesOperands(const Compute& compute);
// Whether neighbouring results read overlapping windows of an operand.
bool SlidesWindow(const Compute& compute);

// A product of matrices in disguise: a sum of products of one element of each
// of two operands of one dtype, which may be cast, or replaced by zero outside
// their tensor. Every reduce axis above 1 moves both (an implicit GEMM gathers
// what a window covers).
struct ContractionRoles {
  Expr a, b;                      // the two loads, in the order of the body
  DType dtype = DType::kFloat32;  // of both
  // Spatial axes above 1 that move only `a` (rows), only `b` (columns), or both
  // (one product each). There are rows and columns.
  std::vector<int> rows, columns, batch;
};
// nullopt for any other compute, e.g. depthwise convolutions.
std::optional<ContractionRoles> AsContraction(const TensorGraph& graph,
                                              TensorId id);

// A convolution of images [n, channels, pixels...], depthwise ones and those of
// a single pixel too: a sum of products of a data and a filter element, as
// above but of any dtypes. The filter moves with the output's channels, with
// images not at all and with pixels at most by their phase (a transposed
// convolution); the data moves with all images and pixels.
struct ConvolutionRoles {
  static constexpr int kImages = 0, kChannels = 1;  // axes of the output
  Expr data, filter;                                // the two loads
  int data_channels;  // dimension of the data that no image and pixel moves
  bool dense;         // every output channel sums over the same data
};
std::optional<ConvolutionRoles> AsConvolution(const TensorGraph& graph,
                                              TensorId id);

// Internal with the reason if an axis moves an operand that by its role it does
// not: along each axis the indices of both loads are evaluated.
absl::Status VerifyRoles(const TensorGraph& graph, TensorId id,
                         const ContractionRoles& roles);
absl::Status VerifyRoles(const TensorGraph& graph, TensorId id,
                         const ConvolutionRoles& roles);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_ANALYSIS_FAMILIES_H_
