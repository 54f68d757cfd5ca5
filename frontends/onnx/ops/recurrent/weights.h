// The weights of one direction of an RNN, GRU or LSTM.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_WEIGHTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_WEIGHTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/recurrent/recurrent_spec.h"

namespace tilewright {

// Each is the part of an input that belongs to one direction, without that
// dimension: a constant of its own where the input is one, so that both
// directions compute alike.
struct Weights {
  TensorId input = -1;      // [gates * hidden, inputs]
  TensorId recurrent = -1;  // [gates * hidden, hidden]
  // Of a GRU that resets what goes into its product: `recurrent` ends before
  // the rows of the hidden gate, which are these, [hidden, hidden]; else -1.
  TensorId hidden = -1;
  TensorId bias = -1;       // [2 * gates * hidden]; -1: none
  TensorId peepholes = -1;  // [3 * hidden], of i, o and f; -1: none
};

absl::StatusOr<Weights> EmitWeights(ImportContext& in,
                                    const RecurrentSpec& spec,
                                    int64_t direction);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_WEIGHTS_H_
