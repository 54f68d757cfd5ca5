// Neighbours along one dimension, whose positions are known when compiling, and
// their weighted sums: what Resize does.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_INTERPOLATION_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_INTERPOLATION_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/resize_spec.h"
#include "frontends/onnx/ops/resize_table.h"

namespace tilewright {

// Where the outputs of one dimension read: by arithmetic, or out of a table of
// constants.
class Positions {
 public:
  // Output o reads `taps` neighbours from `first`[o] on: by `steps`, if given,
  // wherever that is; else the border of `extent` positions for what is
  // outside. `d` is the dimension's number in the node's tensors.
  static absl::StatusOr<Positions> Create(
      ImportContext& in, int d, absl::Span<const int64_t> first, int64_t taps,
      int64_t extent, const std::optional<RegularSteps>& steps);

  Expr At(const ImportContext& in, const Expr& o, const Expr& tap) const;

 private:
  std::optional<RegularSteps> steps_;
  int64_t extent_ = 1;
  TensorId table_ = -1;  // i64 [output, taps], if there are no steps
};

class Interpolation {
 public:
  // Of `extent` positions of dimension `d`, in the node's order; weights are of
  // type `acc`.
  static absl::StatusOr<Interpolation> Create(ImportContext& in,
                                              const ResizeSpec& spec, int d,
                                              int64_t extent, DType acc);

  int dimension() const { return dimension_; }
  int64_t taps() const { return taps_; }
  // Zeros that the input needs before and behind it: where positions are found
  // by arithmetic, the border's weights are those of all that lies outside.
  int64_t before() const { return before_; }
  int64_t behind() const { return behind_; }

  // Where output `index` finds `tap`, in the input with those zeros around it.
  Expr At(const ImportContext& in, absl::Span<const Expr> index,
          const Expr& tap) const {
    return positions_.At(in, index[dimension_], tap);
  }
  Expr Weight(const ImportContext& in, absl::Span<const Expr> index,
              const Expr& tap) const {
    return in.At(weights_, {tap, index[dimension_]});
  }

 private:
  int dimension_ = 0;
  int64_t taps_ = 1;
  int64_t before_ = 0, behind_ = 0;
  Positions positions_;
  TensorId weights_ = -1;  // [taps, output]
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_INTERPOLATION_H_
