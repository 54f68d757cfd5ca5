#include "compiler/test_model.h"

#include <utility>

#include "base/status_macros.h"
#include "runtime/model.h"

namespace tilewright {

ImportedModel ModelOf(TensorGraph graph) {
  ImportedModel model;
  model.graph = std::move(graph);
  const auto port = [&](TensorId id) {
    const Tensor& tensor = model.graph.tensor(id);
    return Port{tensor.name, tensor.dtype, tensor.static_shape(), id};
  };
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.kind == TensorKind::kPlaceholder)
      model.inputs.push_back(port(tensor.id));
  }
  for (const TensorId id : model.graph.outputs())
    model.outputs.push_back(port(id));
  return model;
}

absl::StatusOr<std::vector<HostTensor>> RunSession(
    Session& session, const ImportedModel& model,
    const std::vector<HostTensor>& inputs) {
  std::vector<const void*> from;
  for (const HostTensor& input : inputs) from.push_back(input.data());
  std::vector<HostTensor> outputs;
  for (const Port& port : model.outputs)
    outputs.emplace_back(port.dtype, port.shape);
  std::vector<void*> to;
  for (HostTensor& output : outputs) to.push_back(output.data());
  TW_RETURN_IF_ERROR(session.Run(from, to));
  return outputs;
}

absl::StatusOr<std::vector<HostTensor>> RunCompiled(
    const CompiledModel& compiled,
    const std::shared_ptr<backends::Device>& device, const ImportedModel& model,
    const std::vector<HostTensor>& inputs) {
  TW_ASSIGN_OR_RETURN(const auto loaded,
                      Model::FromBytes(compiled.Serialize(), device));
  TW_ASSIGN_OR_RETURN(const auto session, Session::Create(loaded));
  return RunSession(*session, model, inputs);
}

}  // namespace tilewright
