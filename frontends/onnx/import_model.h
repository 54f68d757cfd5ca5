// ONNX in, TensorGraph out.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_IMPORT_MODEL_H_
#define TILEWRIGHT_FRONTENDS_ONNX_IMPORT_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/import_options.h"
#include "onnx/onnx_pb.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// An input or output of the model.
struct Port {
  std::string name;  // the model's
  DType dtype;
  std::vector<int64_t> shape;
  TensorId tensor;
};

struct ImportedModel {
  TensorGraph graph;
  // In the model's order. Inputs with an initializer and bound inputs are
  // constants and not listed. Every output is a compute of its own.
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

// Loads, checks, infers shapes, folds what is known, folds BatchNormalization,
// drops dead and identity nodes and converts the rest: one compute for each
// elementwise operator; a convolution is padding (hint "pad"), contraction
// ("conv") and bias ("bias"). Tensors have the names of the ONNX values, those
// in between a suffix.
//
// Opsets 6 to 25 of ai.onnx. Every error is one line that says what is wrong
// and what to do: InvalidArgument (the model or the options contradict
// themselves), Unimplemented (lists all operators, domains and opsets that are
// not supported), NotFound, ResourceExhausted.
absl::StatusOr<ImportedModel> ImportModel(const std::string& path,
                                          const ImportOptions& options = {});

// The same for a model in memory, without external data.
absl::StatusOr<ImportedModel> ImportModelProto(
    onnx::ModelProto model, const ImportOptions& options = {});

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_IMPORT_MODEL_H_
