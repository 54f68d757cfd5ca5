// The operators that both Tilewright and the ONNX library that is installed
// know.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_SCHEMA_TESTING_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_SCHEMA_TESTING_H_

#include <functional>
#include <string>

#include "frontends/onnx/graph/op_def.h"
#include "onnx/defs/schema.h"

namespace tilewright {

// Calls `check` for every operator in every opset; expects more than a thousand
// of them, so that no comparison is empty.
void ForEachSchema(
    const std::function<void(const std::string& name, int opset,
                             const OpDef& def, const onnx::OpSchema& schema)>&
        check);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_SCHEMA_TESTING_H_
