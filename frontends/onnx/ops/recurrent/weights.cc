#include "frontends/onnx/ops/recurrent/weights.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

// `count` rows from `first` on of one direction of input `i`.
absl::StatusOr<TensorId> EmitRows(ImportContext& in, int i, const char* word,
                                  int64_t direction, int64_t first,
                                  int64_t count) {
  const OpContext& op = in.op();
  Shape shape(op.shape(i).begin() + 1, op.shape(i).end());
  const int64_t rows = shape[0];
  shape[0] = count;
  const std::string name = in.Name(0, absl::StrCat(word, direction));
  const auto& constant = op.input(i).constant;
  if (constant == nullptr) {
    const TensorId whole = in.input(i);
    return in.Elementwise(name, op.dtype(i), shape, "split",
                          [&](absl::Span<const Expr> index) {
                            std::vector<Expr> at = {Expr::Int(direction)};
                            at.insert(at.end(), index.begin(), index.end());
                            at[1] = at[1] + Expr::Int(first);
                            return in.At(whole, std::move(at));
                          });
  }
  TW_ASSIGN_OR_RETURN(HostTensor part, op.NewTensor(op.dtype(i), shape));
  const int64_t row_bytes = part.size_bytes() / count;
  std::memcpy(part.data(),
              constant->data() + (direction * rows + first) * row_bytes,
              static_cast<size_t>(part.size_bytes()));
  return in.Constant(name, std::move(part));
}

}  // namespace

absl::StatusOr<Weights> EmitWeights(ImportContext& in,
                                    const RecurrentSpec& spec,
                                    int64_t direction) {
  Weights weights;
  const int64_t rows = spec.gates * spec.hidden;
  TW_ASSIGN_OR_RETURN(weights.input, EmitRows(in, kW, "W", direction, 0, rows));
  const bool reset_first =
      spec.cell == CellKind::kGru && !spec.linear_before_reset;
  const int64_t together = reset_first ? rows - spec.hidden : rows;
  TW_ASSIGN_OR_RETURN(weights.recurrent,
                      EmitRows(in, kR, "R", direction, 0, together));
  if (reset_first) {
    TW_ASSIGN_OR_RETURN(weights.hidden, EmitRows(in, kR, "Rh", direction,
                                                 together, spec.hidden));
  }
  if (in.op().has_input(kB)) {
    TW_ASSIGN_OR_RETURN(weights.bias,
                        EmitRows(in, kB, "B", direction, 0, 2 * rows));
  }
  if (in.op().has_input(kPeepholes)) {
    TW_ASSIGN_OR_RETURN(
        weights.peepholes,
        EmitRows(in, kPeepholes, "P", direction, 0, 3 * spec.hidden));
  }
  return weights;
}

}  // namespace tilewright
