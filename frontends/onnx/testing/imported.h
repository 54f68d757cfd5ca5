// Imports models in tests of what the front end makes of them.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_TESTING_IMPORTED_H_
#define TILEWRIGHT_FRONTENDS_ONNX_TESTING_IMPORTED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/import_options.h"
#include "frontends/onnx/model_builder.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// The model, its graph verified. Errors are test failures, here and below.
ImportedModel Import(ModelBuilder& builder, const ImportOptions& options = {});

// The model is refused; the message has both parts.
void ExpectRefused(ModelBuilder& builder, absl::StatusCode code,
                   const std::string& part, const std::string& another);

// The hints of its computes, in the order of the graph.
std::vector<std::string> Hints(const ImportedModel& model);

HostTensor Floats(const std::vector<int64_t>& shape,
                  const std::vector<float>& values);

// Its first output, by the interpreter.
std::vector<float> Evaluate(const ImportedModel& model,
                            const std::vector<HostTensor>& inputs);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_TESTING_IMPORTED_H_
