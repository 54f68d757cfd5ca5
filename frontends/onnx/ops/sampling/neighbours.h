// Images read between their pixels: the neighbours of a position along one
// dimension of the image, and what each weighs. Positions are data.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SAMPLING_NEIGHBOURS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SAMPLING_NEIGHBOURS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

enum class Outside { kZeros, kBorder, kReflection };

struct Interpolation {
  int64_t taps = 2;  // neighbours: 1 the nearest, 2 linear, 4 cubic
  Outside outside = Outside::kZeros;
  // Whether the borders are the middles of the outermost pixels.
  bool align_corners = false;
  DType acc = DType::kFloat32;  // in which everything is computed
};

class Neighbours {
 public:
  // Of a dimension with `extent` pixels. `how` is borrowed.
  Neighbours(const Interpolation& how, int64_t extent);

  // A position in pixels where its neighbours are looked for: rounded to the
  // nearest, reflected or moved to the border.
  Expr Placed(const Expr& position) const;
  // Computes the neighbours of placed positions, a tensor of `acc`; dimension
  // `d` of the image's, for names.
  void Compute(ImportContext& in, int d, TensorId positions);

  // Of the position at `at`: a pixel of the image, and what it weighs.
  Expr Pixel(const ImportContext& in, const Expr& tap,
             std::vector<Expr> at) const;
  Expr Weight(const ImportContext& in, const Expr& tap,
              std::vector<Expr> at) const;

 private:
  Expr Number(double value) const;
  Expr Reflected(const Expr& x) const;
  // Neighbour `tap` of position `x`; it may lie outside.
  Expr TapOf(const Expr& x, const Expr& tap) const;
  Expr WeightOf(const Expr& x, const Expr& tap) const;
  Expr Cubic(const Expr& distance) const;

  const Interpolation& how_;
  int64_t extent_;
  double least_, most_;                  // the borders
  TensorId pixels_ = -1, weights_ = -1;  // [taps, those of positions ...]
};

// A term of an interpolation: a pixel of `x`, whose place is that of `at` and
// neighbour taps[d] of `position` along each further dimension d, times what it
// weighs there, and times `weight` unless that is empty.
Expr WeightedPixel(const ImportContext& in, TensorId x,
                   absl::Span<const Neighbours> along,
                   absl::Span<const Expr> taps,
                   const std::vector<Expr>& position, std::vector<Expr> at,
                   Expr weight = {});

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SAMPLING_NEIGHBOURS_H_
