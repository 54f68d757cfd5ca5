#include "frontends/onnx/ops/interpolation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {

absl::StatusOr<Positions> Positions::Create(
    ImportContext& in, int d, absl::Span<const int64_t> first, int64_t taps,
    int64_t extent, const std::optional<RegularSteps>& steps) {
  Positions result;
  result.extent_ = extent;
  result.steps_ = steps;
  if (steps) return result;
  const auto outputs = static_cast<int64_t>(first.size());
  TW_ASSIGN_OR_RETURN(HostTensor table,
                      in.op().NewTensor(DType::kInt64, {outputs, taps}));
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < taps; ++k)
      table.as<int64_t>()[o * taps + k] =
          std::clamp<int64_t>(first[o] + k, 0, extent - 1);
  }
  result.table_ =
      in.Constant(in.Name(0, absl::StrCat("from", d)), std::move(table));
  return result;
}

Expr Positions::At(const ImportContext& in, const Expr& o,
                   const Expr& tap) const {
  if (steps_) {
    return FloorDiv(
               o * Expr::Int(steps_->multiplier) + Expr::Int(steps_->offset),
               Expr::Int(steps_->divisor)) +
           tap;
  }
  // The table is constant, but bounds are found from expressions alone.
  return Binary(Op::kMin,
                Binary(Op::kMax, in.At(table_, {o, tap}), Expr::Int(0)),
                Expr::Int(extent_ - 1));
}

absl::StatusOr<Interpolation> Interpolation::Create(ImportContext& in,
                                                    const ResizeSpec& spec,
                                                    int d, int64_t extent,
                                                    DType acc) {
  ResizeTable table = TableOf(spec, d, extent);
  const int64_t taps = table.taps, outputs = spec.shape[d];
  Interpolation result;
  result.dimension_ = d;
  result.taps_ = taps;
  std::optional<RegularSteps> steps = FindSteps(table.first);
  if (steps && !MoveWeightsInside(table, extent)) steps = std::nullopt;
  if (steps) {
    const auto [first, last] =
        std::minmax_element(table.first.begin(), table.first.end());
    result.before_ = std::max<int64_t>(0, -*first);
    result.behind_ = std::max<int64_t>(0, *last + taps - extent);
    // In the input with those zeros.
    steps->offset += result.before_ * steps->divisor;
  }
  TW_ASSIGN_OR_RETURN(
      result.positions_,
      Positions::Create(in, d, table.first, taps, extent, steps));
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

}  // namespace tilewright
