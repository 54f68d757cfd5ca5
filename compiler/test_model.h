// Graphs as models, for tests: compiled and run without a file.
#ifndef TILEWRIGHT_COMPILER_TEST_MODEL_H_
#define TILEWRIGHT_COMPILER_TEST_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "runtime/session.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// `graph` as if it had been imported: every placeholder is an input.
ImportedModel ModelOf(TensorGraph graph);

// Runs `session` of `model` once: inputs in order, outputs in order.
absl::StatusOr<std::vector<HostTensor>> RunSession(
    Session& session, const ImportedModel& model,
    const std::vector<HostTensor>& inputs);

// The same in a session of its own.
absl::StatusOr<std::vector<HostTensor>> RunCompiled(
    const CompiledModel& compiled,
    const std::shared_ptr<backends::Device>& device, const ImportedModel& model,
    const std::vector<HostTensor>& inputs);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_TEST_MODEL_H_
