#include "backends/cpu/hard_inputs.h"

#include <map>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::cpu {

absl::Status SetInputs(
    lowering::RandomCase& random_case,
    const std::function<void(const std::string& name, float* values)>& set,
    const std::function<double(int64_t i, double value)>& bound) {
  const TensorGraph& graph = random_case.workload.graph;
  std::map<TensorId, HostTensor> inputs;
  TensorId output = 0;
  for (size_t i = 0; i < random_case.args.size(); ++i) {
    const Tensor& tensor = graph.tensor(random_case.tensors[i]);
    if (tensor.kind == TensorKind::kCompute) {
      output = tensor.id;
      continue;
    }
    auto* values = reinterpret_cast<float*>(random_case.args[i].data());
    set(tensor.name, values);
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t j = 0; j < value.num_elements(); ++j)
      value.Set(j, Scalar{values[j], 0});
    inputs.emplace(tensor.id, std::move(value));
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Interpreter> reference,
                      Interpreter::Create(graph, inputs, {}));
  TW_ASSIGN_OR_RETURN(const HostTensor want, reference->Evaluate(output));
  ReferenceTensor expected = ExactReference(want);
  for (int64_t i = 0; i < want.num_elements(); ++i)
    expected.bound.push_back(bound(i, want.Get(i).f));
  random_case.expected[output] = std::move(expected);
  return absl::OkStatus();
}

}  // namespace tilewright::cpu
