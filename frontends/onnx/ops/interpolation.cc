#include "frontends/onnx/ops/interpolation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {

Expr TablePosition(const ImportContext& in, TensorId table,
                   std::vector<Expr> index, int64_t extent) {
  // The tables are constants, but bounds are found from expressions alone.
  const Expr at = in.At(table, std::move(index));
  return Binary(Op::kMin, Binary(Op::kMax, at, Expr::Int(0)),
                Expr::Int(extent - 1));
}

Expr PositionOf(const RegularSteps& steps, const Expr& o) {
  return FloorDiv(o * Expr::Int(steps.multiplier) + Expr::Int(steps.offset),
                  Expr::Int(steps.divisor));
}

absl::StatusOr<Interpolation> Interpolation::Create(ImportContext& in,
                                                    const ResizeSpec& spec,
                                                    int d, int64_t extent,
                                                    DType acc) {
  ResizeTable table = TableOf(spec, d, extent);
  const int64_t taps = table.taps, outputs = spec.shape[d];
  Interpolation result;
  result.dimension_ = d;
  result.extent_ = extent;
  result.taps_ = taps;
  result.steps_ = FindSteps(table.first);
  if (result.steps_ && !MoveWeightsInside(table, extent))
    result.steps_ = std::nullopt;
  if (result.steps_) {
    const auto [first, last] =
        std::minmax_element(table.first.begin(), table.first.end());
    result.before_ = std::max<int64_t>(0, -*first);
    result.behind_ = std::max<int64_t>(0, *last + taps - extent);
    // In the input with those zeros.
    result.steps_->offset += result.before_ * result.steps_->divisor;
  } else {
    TW_ASSIGN_OR_RETURN(HostTensor positions,
                        in.op().NewTensor(DType::kInt64, {outputs, taps}));
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t k = 0; k < taps; ++k)
        positions.as<int64_t>()[o * taps + k] =
            std::clamp<int64_t>(table.first[o] + k, 0, extent - 1);
    }
    result.positions_ =
        in.Constant(in.Name(0, absl::StrCat("from", d)), std::move(positions));
  }
  TW_ASSIGN_OR_RETURN(HostTensor weights,
                      in.op().NewTensor(acc, {taps, outputs}));
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < taps; ++k)
      weights.Set(k * outputs + o, Scalar{table.weight[o * taps + k], 0});
  }
  result.weights_ =
      in.Constant(in.Name(0, absl::StrCat("weight", d)), std::move(weights));
  return result;
}

Expr Interpolation::At(const ImportContext& in, absl::Span<const Expr> index,
                       const Expr& tap) const {
  const Expr& o = index[dimension_];
  if (!steps_) return TablePosition(in, positions_, {o, tap}, extent_);
  return PositionOf(*steps_, o) + tap;
}

Expr Interpolation::Weight(const ImportContext& in,
                           absl::Span<const Expr> index,
                           const Expr& tap) const {
  return in.At(weights_, {tap, index[dimension_]});
}

}  // namespace tilewright
