// Gives the inputs of a model their types, with what the caller says about
// dimensions and values.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_BIND_INPUTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_BIND_INPUTS_H_

#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/import_options.h"

namespace tilewright {

// Sets infos[id] of every input; bound ones become constants and leave
// graph.inputs. InvalidArgument: all dimensions that lack a value with the
// flags that give one, a dimension or input that does not exist, a value that
// does not fit.
absl::Status BindInputs(OnnxGraph& graph, const ImportOptions& options,
                        std::vector<ValueInfo>& infos);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_BIND_INPUTS_H_
