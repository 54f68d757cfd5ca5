// The activation functions that RNN, GRU and LSTM name in attributes.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_ACTIVATIONS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_ACTIVATIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/expr.h"

namespace tilewright {

struct Activation {
  Expr (*function)(const Expr& x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;

  Expr operator()(const Expr& x) const { return function(x, alpha, beta); }
};

// The functions of attribute 'activations', in its order, or those of `names`
// without it. 'activation_alpha' and 'activation_beta' go, in their order, to
// the functions that have such a number; those behind their ends get the
// defaults of ONNX. InvalidArgument if there are not as many as `names`, one is
// unknown, lacks a number that has no default, or numbers are left over.
absl::StatusOr<std::vector<Activation>> ReadActivations(
    const OpContext& op, std::vector<std::string> names);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_ACTIVATIONS_H_
