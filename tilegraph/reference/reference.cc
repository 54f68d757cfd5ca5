#include "tilegraph/reference/reference.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tilegraph/reference/reference_compute.h"

namespace tilewright {

ReferenceTensor ExactReference(const HostTensor& value) {
  ReferenceTensor tensor{value.dtype(), value.shape(), {}, {}, {}};
  const int64_t count = value.num_elements();
  if (value.dtype() == DType::kFloat32) {
    const auto values = value.as<float>();
    tensor.value.assign(values.begin(), values.end());
  } else if (IsFloat(value.dtype())) {
    tensor.value.resize(count);
    for (int64_t k = 0; k < count; ++k) tensor.value[k] = value.Get(k).f;
  } else {
    tensor.integer.resize(count);
    for (int64_t k = 0; k < count; ++k) tensor.integer[k] = value.Get(k).i;
  }
  return tensor;
}

ReferenceTensor EvaluateTensor(
    const Tensor& tensor, const std::map<TensorId, ReferenceTensor>& sources,
    const ReferenceOptions& options) {
  double magnitude = 0;
  return reference_internal::EvaluateCompute(tensor, sources, options,
                                             magnitude);
}

absl::StatusOr<ReferenceResult> EvaluateReference(
    const TensorGraph& graph, const std::map<TensorId, HostTensor>& inputs,
    const ReferenceOptions& options) {
  std::map<TensorId, ReferenceTensor> tensors;
  ReferenceResult result;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) {
      ReferenceTensor computed = reference_internal::EvaluateCompute(
          tensor, tensors, options, result.largest_magnitude);
      tensors[tensor.id] = std::move(computed);
      continue;
    }
    const auto given = inputs.find(tensor.id);
    if (given == inputs.end())
      return absl::InvalidArgumentError(
          absl::StrCat("no value for '", tensor.name, "'"));
    if (given->second.dtype() != tensor.dtype ||
        given->second.shape() != tensor.static_shape()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the value for '", tensor.name, "' has another dtype or shape"));
    }
    tensors[tensor.id] = ExactReference(given->second);
  }
  for (const TensorId output : graph.outputs())
    result.outputs[output] = tensors.at(output);
  return result;
}

}  // namespace tilewright
