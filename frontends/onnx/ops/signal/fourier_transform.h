// The contraction that a discrete Fourier transform is.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_FOURIER_TRANSFORM_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_FOURIER_TRANSFORM_H_

#include <functional>
#include <string>

#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/ops/signal/fourier_matrix.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// A part of a term of the signal whose place among all signals is `index`.
using Sample = std::function<Expr(absl::Span<const Expr> index,
                                  const Expr& term, const Expr& part)>;

// `name`: [signals..., 2 * bins], the parts of each bin side by side, of the
// dtype of output 0. `matrix` is that of `spec`, or the same with a window.
// Columns are one dimension, and the last, so that it is a matrix product whose
// results lie side by side whatever becomes of them.
TensorId EmitTransform(ImportContext& in, std::string name,
                       const FourierSpec& spec, TensorId matrix,
                       const Shape& signals, const Sample& sample);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_FOURIER_TRANSFORM_H_
