#include "compiler/verified_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/rewrite_model.h"
#include "measure/inputs/input_sets.h"
#include "tilegraph/reference/reference.h"

namespace tilewright {
namespace {

using Values = std::map<TensorId, HostTensor>;

HostTensor DrawInput(const Port& port, int64_t index_extent, Random& random) {
  HostTensor tensor(port.dtype, port.shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (IsFloat(port.dtype)) {
      tensor.Set(i, {random.Normal(), 0});
    } else {
      tensor.Set(i, {0, random.UniformInt(0, index_extent - 1)});
    }
  }
  return tensor;
}

// One compute of `graph` as a graph, its operands as placeholders.
TensorGraph Alone(const TensorGraph& graph, const Tensor& tensor,
                  const Values& values, Values& operands) {
  TensorGraph alone;
  std::map<TensorId, TensorId> renamed;
  for (const TensorId input : graph.Inputs(tensor.id)) {
    const Tensor& from = graph.tensor(input);
    renamed[input] = alone.AddPlaceholder(from.name, from.dtype, from.shape);
    operands[renamed[input]] = values.at(input);
  }
  Compute compute = tensor.compute;
  for (Expr& body : compute.body) {
    body = Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return Expr();
      return Expr::Load(renamed.at(e.source()), e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  }
  alone.SetOutputs(
      {alone.AddCompute(tensor.name, tensor.dtype, std::move(compute))});
  return alone;
}

void RoundToBf16(HostTensor& tensor) {
  if (tensor.dtype() != DType::kFloat32) return;
  for (float& value : tensor.as<float>())
    value = BFloat16ToFloat(FloatToBFloat16(value));
}

// The model's outputs where every tensor is stored in its dtype, or in bf16.
absl::StatusOr<std::vector<HostTensor>> StoredOutputs(
    const ImportedModel& model, Values values, bool bf16) {
  if (bf16) {
    for (auto& [id, value] : values) RoundToBf16(value);
  }
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    Values operands;
    const TensorGraph alone = Alone(model.graph, tensor, values, operands);
    TW_ASSIGN_OR_RETURN(const ReferenceResult result,
                        EvaluateReference(alone, operands, {}));
    const ReferenceTensor& computed =
        result.outputs.at(alone.outputs()[0]);
    HostTensor stored(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < stored.num_elements(); ++i) {
      stored.Set(i, IsFloat(tensor.dtype) ? Scalar{computed.value[i], 0}
                                          : Scalar{0, computed.integer[i]});
    }
    if (bf16) RoundToBf16(stored);
    values[tensor.id] = std::move(stored);
  }
  std::vector<HostTensor> outputs;
  for (const Port& port : model.outputs)
    outputs.push_back(values.at(port.tensor));
  return outputs;
}

bool Allows(const std::vector<std::string>& allow, const char* name) {
  return std::find(allow.begin(), allow.end(), name) != allow.end();
}

}  // namespace

double LeastLimit(int64_t terms) {
  return 4 * 0x1p-24 * (std::sqrt(static_cast<double>(terms)) + 8);
}

absl::StatusOr<VerifiedNetwork> VerifiedNetwork::Create(ImportedModel model,
                                                        uint64_t seed) {
  VerifiedNetwork network;
  Random random(seed);
  const std::map<TensorId, int64_t> extents =
      measure::IndexExtents(model.graph);
  Values values;
  for (const Port& port : model.inputs) {
    const auto extent = extents.find(port.tensor);
    network.inputs_.push_back(
        DrawInput(port, extent == extents.end() ? 2 : extent->second, random));
    values[port.tensor] = network.inputs_.back();
  }
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant) values[tensor.id] = *tensor.value;
    int64_t terms = 1;
    for (const Axis& axis : tensor.compute.reduce_axes)
      terms *= axis.extent.value();
    network.most_terms_ = std::max(network.most_terms_, terms);
  }
  TW_ASSIGN_OR_RETURN(const ReferenceResult reference,
                      EvaluateReference(model.graph, values, {}));
  for (const Port& port : model.outputs)
    network.expected_.push_back(reference.outputs.at(port.tensor).value);
  TW_ASSIGN_OR_RETURN(const std::vector<HostTensor> fp32,
                      StoredOutputs(model, values, /*bf16=*/false));
  TW_ASSIGN_OR_RETURN(const std::vector<HostTensor> bf16,
                      StoredOutputs(model, values, /*bf16=*/true));
  network.model_ = std::move(model);
  network.fp32_errors_ = network.Errors(fp32);
  network.bf16_errors_ = network.Errors(bf16);
  return network;
}

std::vector<double> VerifiedNetwork::Errors(
    absl::Span<const HostTensor> outputs) const {
  std::vector<double> errors;
  for (size_t o = 0; o < outputs.size(); ++o) {
    double largest = 0, difference = 0;
    for (int64_t i = 0; i < outputs[o].num_elements(); ++i) {
      const double want = expected_[o][i], got = outputs[o].Get(i).f;
      if (std::isnan(want) && std::isnan(got)) continue;
      const double error = std::abs(got - want);
      difference = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                     : std::max(difference, error);
      largest = std::max(largest, std::abs(want));
    }
    errors.push_back(difference == 0 ? 0 : difference / largest);
  }
  return errors;
}

std::vector<double> VerifiedNetwork::Limits(
    const std::vector<std::string>& allow) const {
  const double factor =
      kErrorFactor * (Allows(allow, kAllowWinograd4) ? kWinograd4Factor : 1);
  std::vector<double> limits;
  for (size_t o = 0; o < fp32_errors_.size(); ++o) {
    double sampled = fp32_errors_[o];
    if (Allows(allow, kAllowBf16)) sampled = std::max(sampled, bf16_errors_[o]);
    limits.push_back(std::max(LeastLimit(most_terms_), factor * sampled));
  }
  return limits;
}

}  // namespace tilewright
