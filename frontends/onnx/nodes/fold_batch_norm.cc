#include "frontends/onnx/nodes/fold_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/known_values.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright {
namespace {

// y = factor * x + shift, per channel.
struct Affine {
  std::vector<double> factor;
  std::vector<double> shift;
};

std::optional<Affine> AffineOf(const OnnxGraph& graph, const OnnxNode& norm,
                               int64_t channels) {
  const HostTensor* parameter[4];
  for (size_t i = 0; i < 4; ++i) {
    parameter[i] = KnownInput(graph, norm, i + 1);
    if (parameter[i] == nullptr || parameter[i]->num_elements() != channels) {
      return std::nullopt;
    }
  }
  const double epsilon = norm.Float("epsilon", 1e-5f);
  Affine affine;
  for (int64_t c = 0; c < channels; ++c) {
    const auto value = [&](int i) { return parameter[i]->Get(c).f; };
    const double factor = value(0) / std::sqrt(value(3) + epsilon);
    affine.factor.push_back(factor);
    affine.shift.push_back(value(1) - value(2) * factor);
  }
  return affine;
}

// Weights that can be scaled: runs of `inner` elements of one output channel,
// the channels of a group again and again, one group after the other.
struct Target {
  int64_t channels;  // of one group
  int64_t inner;
  int64_t groups = 1;
};

// Multiplies the elements of each output channel by its factor.
HostTensor Scaled(const HostTensor& weights, const std::vector<double>& factor,
                  const Target& target, const std::string& name) {
  HostTensor result = NewTensorOrThrow(weights.dtype(), weights.shape(),
                                       absl::StrCat("constant '", name, "'"));
  const int64_t runs = weights.num_elements() / target.inner;
  for (int64_t run = 0; run < runs; ++run) {
    const double by = factor[run / (runs / target.groups) * target.channels +
                             run % target.channels];
    const int64_t first = run * target.inner, end = first + target.inner;
    if (weights.dtype() == DType::kFloat32) {
      const auto from = weights.as<float>();
      const auto to = result.as<float>();
      for (int64_t i = first; i < end; ++i)
        to[i] = static_cast<float>(from[i] * by);
    } else {
      for (int64_t i = first; i < end; ++i)
        result.Set(i, Scalar{weights.Get(i).f * by, 0});
    }
  }
  return result;
}

// Those of `node`, if it can be given others.
std::optional<Target> TargetOf(const OnnxGraph& graph, const OnnxNode& node) {
  const HostTensor* weights = KnownInput(graph, node, 1);
  if (weights == nullptr || !IsFloat(weights->dtype()) ||
      weights->num_elements() == 0) {
    return std::nullopt;
  }
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (has_bias && KnownInput(graph, node, 2) == nullptr) return std::nullopt;
  const Shape& shape = weights->shape();
  if (node.Is("Conv")) {
    return Target{shape[0], weights->num_elements() / shape[0]};
  }
  if (node.Is("ConvTranspose")) {
    return Target{shape[1], weights->num_elements() / (shape[0] * shape[1]),
                  node.Int("group", 1)};
  }
  if (!node.Is("Gemm") || node.Float("alpha", 1) != 1 ||
      node.Float("beta", 1) != 1) {
    return std::nullopt;
  }
  const bool transposed = node.Int("transB", 0) != 0;
  const Target target{shape[transposed ? 0 : 1], transposed ? shape[1] : 1};
  // A bias that differs by row cannot be scaled by column.
  if (has_bias && KnownInput(graph, node, 2)->num_elements() != 1 &&
      (KnownInput(graph, node, 2)->num_elements() != target.channels ||
       KnownInput(graph, node, 2)->shape().back() != target.channels)) {
    return std::nullopt;
  }
  return target;
}

}  // namespace

void FoldBatchNorm(OnnxGraph& graph, std::vector<ValueInfo>& infos) {
  std::vector<int> readers = CountReaders(graph);
  std::vector<bool> gone(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    OnnxNode& norm = graph.nodes[n];
    if (!norm.Is("BatchNormalization")) continue;
    const ValueId between = norm.inputs[0];
    const int producer = graph.values[between].producer;
    if (producer < 0 || readers[between] != 1) continue;
    OnnxNode& node = graph.nodes[producer];
    const std::optional<Target> target = TargetOf(graph, node);
    if (!target.has_value()) continue;
    const int64_t channels = target->channels * target->groups;
    const std::optional<Affine> affine = AffineOf(graph, norm, channels);
    if (!affine.has_value()) continue;

    const HostTensor& weights = *KnownInput(graph, node, 1);
    HostTensor bias(weights.dtype(), {channels});
    const HostTensor* old_bias = KnownInput(graph, node, 2);
    for (int64_t c = 0; c < channels; ++c) {
      const double before =
          old_bias == nullptr
              ? 0
              : old_bias->Get(old_bias->num_elements() == 1 ? 0 : c).f;
      bias.Set(c, Scalar{before * affine->factor[c] + affine->shift[c], 0});
    }
    const std::string base = graph.name(node.inputs[1]) + ".folded";
    HostTensor scaled = Scaled(weights, affine->factor, *target, base);
    node.inputs.resize(3, kNoValue);
    node.inputs[1] = AddKnown(graph, infos, base, std::move(scaled));
    node.inputs[2] = AddKnown(graph, infos, base + "_bias", std::move(bias));
    readers.resize(graph.values.size(), 1);
    const ValueId result = norm.outputs[0];
    node.outputs[0] = result;
    graph.values[result].producer = producer;
    gone[n] = true;
  }
  std::vector<int> position(graph.nodes.size(), -1);
  std::vector<OnnxNode> left;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (gone[n]) continue;
    position[n] = static_cast<int>(left.size());
    left.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(left);
  for (OnnxValue& value : graph.values) {
    if (value.producer >= 0) value.producer = position[value.producer];
  }
}

}  // namespace tilewright
