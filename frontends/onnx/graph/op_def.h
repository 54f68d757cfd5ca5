// One form of an operator: what its inference and its import are.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_OP_DEF_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_OP_DEF_H_

#include "absl/status/status.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// Sets the dtype and shape of every output, and the value of those that follow
// from types and attributes alone. InvalidArgument names both shapes of a
// contradiction.
using InferFn = absl::Status (*)(OpContext& op);
// Adds the computes of a node whose types are known; reports nothing that the
// inference accepts except what is not supported.
using ImportFn = absl::Status (*)(ImportContext& in);

// The form an operator of ai.onnx has from one opset until its next row.
struct OpDef {
  const char* name;
  int since;       // opset
  int min_inputs;  // these must be present
  int max_inputs;
  InferFn infer;
  ImportFn import;  // null: the inference always gives the value
};

constexpr int kAnyNumber = 1 << 30;

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_OP_DEF_H_
