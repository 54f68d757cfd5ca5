// One step of each recurrent cell.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_CELLS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_CELLS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/recurrent/recurrent_spec.h"
#include "frontends/onnx/ops/recurrent/weights.h"

namespace tilewright {

// Between two steps; -1 stands for zeros. Both have the shape of a step's part
// of output Y: [1, 1, batch, hidden], or [batch, 1, 1, hidden] where the batch
// comes first.
struct State {
  TensorId h = -1;
  TensorId c = -1;  // of LSTM alone
};

// What is the same in every step of a direction. All is borrowed.
struct Direction {
  ImportContext& in;
  const RecurrentSpec& spec;
  const Weights& weights;
  absl::Span<const Activation> activations;
};

// What one step reads beside the state.
struct StepInputs {
  // [batch, gates * hidden]: the products of X and W, with the biases that can
  // be added to them (AddsBias).
  TensorId products = -1;
  // [batch] of bool: whether the sequence goes on up to this step. -1: all do.
  TensorId valid = -1;
};

// Whether the bias behind R at this gate is added to what a step reads. That
// is not so where it is reset.
bool AddsBias(const RecurrentSpec& spec, int64_t gate);

// The state after a step; that before it where the sequence has ended. Names
// begin with `name`.
State EmitStep(const Direction& direction, const StepInputs& inputs,
               const State& before, const std::string& name);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_CELLS_H_
