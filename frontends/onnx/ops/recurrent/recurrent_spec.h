// What an RNN, GRU or LSTM node computes: its sizes and options, checked.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_RECURRENT_SPEC_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_RECURRENT_SPEC_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/ops/recurrent/activations.h"

namespace tilewright {

enum class CellKind { kRnn, kGru, kLstm };

// The inputs by position, in ONNX's words; the last two are of LSTM alone.
enum RecurrentInput {
  kX,        // [steps, batch, inputs]
  kW,        // [directions, gates * hidden, inputs]
  kR,        // [directions, gates * hidden, hidden]
  kB,        // [directions, 2 * gates * hidden]: those of W, those of R
  kLengths,  // [batch]
  kInitialH,
  kInitialC,
  kPeepholes,  // [directions, 3 * hidden]
};

struct RecurrentSpec {
  CellKind cell = CellKind::kRnn;
  int64_t steps = 1, batch = 1, inputs = 1, hidden = 1;
  int64_t gates = 1;       // 1, 3 (z, r, h) or 4 (i, o, f, c)
  int64_t directions = 1;  // 2: there and back
  bool only_reverse = false;
  // Attribute 'layout': the batch comes before steps and directions.
  bool batch_first = false;
  bool has_lengths = false;  // whether sequences may be shorter than `steps`
  double clip = 0;           // of what goes into gates; 0: none
  bool input_forget = false;
  bool linear_before_reset = false;
  // Of all directions, in their order.
  std::vector<Activation> activations;
  DType acc = DType::kFloat32;  // in which everything is computed

  bool IsReverse(int64_t direction) const {
    return only_reverse || direction == 1;
  }
  absl::Span<const Activation> ActivationsOf(int64_t direction) const;
  Shape SequenceShape() const;  // of output Y
  Shape StateShape() const;     // of Y_h and Y_c, and of the initial ones
};

// InvalidArgument where shapes, types and attributes contradict each other;
// Unimplemented names the attribute, or the size, that is not supported.
absl::StatusOr<RecurrentSpec> ReadRecurrent(const OpContext& op, CellKind cell);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RECURRENT_RECURRENT_SPEC_H_
