// Sums of weighted neighbours along one dimension, whose positions and weights
// are known when compiling: what linear and cubic Resize do.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_INTERPOLATION_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_INTERPOLATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/resize_spec.h"
#include "frontends/onnx/ops/resize_table.h"

namespace tilewright {

// A position out of a table of constants, all of which lie in [0, extent).
Expr TablePosition(const ImportContext& in, TensorId table,
                   std::vector<Expr> index, int64_t extent);

// Where `steps` leads from output `o`.
Expr PositionOf(const RegularSteps& steps, const Expr& o);

class Interpolation {
 public:
  // Of `extent` positions of dimension `d`, in the node's order; weights are of
  // type `acc`.
  static absl::StatusOr<Interpolation> Create(ImportContext& in,
                                              const ResizeSpec& spec, int d,
                                              int64_t extent, DType acc);

  int dimension() const { return dimension_; }
  int64_t taps() const { return taps_; }
  // Zeros that the input needs before and behind it. There are some where
  // positions are regular: they are read by arithmetic, not out of a table, and
  // the border's weights are those of all that lies outside.
  int64_t before() const { return before_; }
  int64_t behind() const { return behind_; }

  // Where output `index` finds `tap`, in the input with those zeros around it.
  Expr At(const ImportContext& in, absl::Span<const Expr> index,
          const Expr& tap) const;
  Expr Weight(const ImportContext& in, absl::Span<const Expr> index,
              const Expr& tap) const;

 private:
  Interpolation() = default;

  int dimension_ = 0;
  int64_t extent_ = 1;
  int64_t taps_ = 1;
  int64_t before_ = 0, behind_ = 0;
  // Of the first tap, in the input with zeros around it.
  std::optional<RegularSteps> steps_;
  TensorId positions_ = -1;  // i64 [output, taps], if there are none
  TensorId weights_ = -1;    // [taps, output]
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_INTERPOLATION_H_
