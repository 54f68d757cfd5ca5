#include "frontends/onnx/nodes/integer_contractions.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/known_values.h"
#include "frontends/onnx/nodes/dequantized_operand.h"
#include "frontends/onnx/nodes/quantize_grid.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright {
namespace {

using Constant = std::shared_ptr<const HostTensor>;

// Weights [channel, term...] less their zero points, with all that follows from
// them.
struct Weights {
  Constant centred;        // i8
  int64_t most_magnitude;  // of the sum of |w| of a channel
};

class Rewriter {
 public:
  explicit Rewriter(OnnxGraph& graph) : graph_(graph) {}

  void Run() {
    std::vector<OnnxNode> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (OnnxNode& node : nodes) {
      if (!Contract(node)) graph_.AppendNode(std::move(node));
    }
  }

 private:
  ValueId AddNode(const OnnxNode& from, const char* op, const char* suffix,
                  std::vector<ValueId> inputs, ValueId output) {
    OnnxNode node;
    node.name = from.name;
    node.op = op;
    node.inputs = std::move(inputs);
    if (output == kNoValue)
      output = graph_.AddValue(graph_.name(from.outputs[0]) + suffix);
    node.outputs = {output};
    node.is_rewritten = true;
    graph_.AppendNode(std::move(node));
    return output;
  }

  bool Contract(const OnnxNode& node) {
    if (node.Is("Conv")) return ContractConv(node);
    if (node.Is("MatMul") || node.Is("Gemm")) return ContractMatMul(node);
    return false;
  }

  // The weights of a node as [channel, term...], `channel` being the dimension
  // of the output channels.
  std::optional<Weights> WeightsOf(const DequantizedOperand& w,
                                   int64_t channel) const {
    const Constant& values = graph_.values[w.value].constant;
    if (values == nullptr || !w.of_8_bits() ||
        values->dtype() != w.zero->dtype())
      return std::nullopt;
    const std::vector<int64_t>& shape = values->shape();
    const int64_t channels = shape[channel];
    for (const HostTensor* by_channel : {w.scale, w.zero}) {
      if (by_channel->num_elements() != 1 &&
          by_channel->num_elements() != channels)
        return std::nullopt;
    }
    int64_t inner = 1;
    for (size_t d = static_cast<size_t>(channel) + 1; d < shape.size(); ++d)
      inner *= shape[d];
    auto centred = std::make_shared<HostTensor>(NewTensorOrThrow(
        DType::kInt8, shape,
        absl::StrCat("integer weights '", graph_.name(w.value), "'")));
    std::vector<int64_t> magnitude(channels, 0);
    for (int64_t i = 0; i < values->num_elements(); ++i) {
      const int64_t c = i / inner % channels;
      const int64_t value = values->Get(i).i - w.zero_of(c);
      if (value < -128 || value > 127) return std::nullopt;
      centred->Set(i, Scalar{0, value});
      magnitude[c] += std::abs(value);
    }
    Weights weights{std::move(centred), 0};
    for (const int64_t one : magnitude)
      weights.most_magnitude = std::max(weights.most_magnitude, one);
    return weights;
  }

  // Whether the sums fit in i32 whatever `x` is.
  static bool Fits(const Weights& weights, const DequantizedOperand& x) {
    const int64_t low = LeastOf(x.zero->dtype());
    const int64_t zero = x.zero_of(0);
    const int64_t most = std::max(std::abs(low - zero), low + 255 - zero);
    return weights.most_magnitude <=
           std::numeric_limits<int32_t>::max() / std::max<int64_t>(1, most);
  }

  // One number per channel, to be aligned with dimension 1 of `rank`, or with
  // the last one for rank 0.
  ValueId AddChannels(const OnnxNode& node, const char* suffix,
                      const std::vector<float>& values, int rank) {
    std::vector<int64_t> shape = {static_cast<int64_t>(values.size())};
    for (int d = 2; d < rank; ++d) shape.push_back(1);
    auto tensor = std::make_shared<HostTensor>(DType::kFloat32, shape);
    for (size_t c = 0; c < values.size(); ++c)
      tensor->Set(static_cast<int64_t>(c), Scalar{values[c], 0});
    return graph_.AddValue(graph_.name(node.outputs[0]) + suffix,
                           std::move(tensor));
  }

  // A bias of one number per channel: absent (empty), a constant, or one that
  // is dequantized. nullopt: anything else.
  std::optional<std::vector<float>> BiasOf(const OnnxNode& node,
                                           int64_t channels) const {
    std::vector<float> bias;
    if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return bias;
    const std::optional<DequantizedOperand> from =
        DequantizedInput(graph_, node, 2);
    const HostTensor* values = from ? graph_.values[from->value].constant.get()
                                    : KnownInput(graph_, node, 2);
    if (values == nullptr || values->num_elements() != channels ||
        values->shape().back() != channels ||
        (!from && values->dtype() != DType::kFloat32))
      return std::nullopt;
    for (int64_t c = 0; c < channels; ++c) {
      // As DequantizeLinear rounds.
      bias.push_back(from ? static_cast<float>(static_cast<int32_t>(
                                values->Get(c).i - from->zero_of(c))) *
                                from->scale_of(c)
                          : static_cast<float>(values->Get(c).f));
    }
    return bias;
  }

  // The sums become the node's output.
  void Finish(const OnnxNode& node, ValueId sums, const DequantizedOperand& x,
              const DequantizedOperand& w, int64_t channels,
              const std::vector<float>& bias, int rank) {
    std::vector<float> scales;
    for (int64_t c = 0; c < channels; ++c)
      scales.push_back(x.scale_of(0) * w.scale_of(c));
    OnnxNode cast;
    cast.name = node.name;
    cast.op = "Cast";
    cast.inputs = {sums};
    cast.outputs = {graph_.AddValue(graph_.name(node.outputs[0]) + ".cast")};
    cast.attributes["to"].type = Attribute::Type::kInt;
    cast.attributes["to"].i = 1;  // float
    const ValueId real = cast.outputs[0];
    graph_.AppendNode(std::move(cast));
    const ValueId scale = AddChannels(node, ".scale", scales, rank);
    const ValueId last = node.outputs[0];
    const ValueId scaled = AddNode(node, "Mul", ".scaled", {real, scale},
                                   bias.empty() ? last : kNoValue);
    if (bias.empty()) return;
    AddNode(node, "Add", "", {scaled, AddChannels(node, ".bias", bias, rank)},
            last);
  }

  bool ContractConv(const OnnxNode& node) {
    const std::optional<DequantizedOperand> x =
        DequantizedInput(graph_, node, 0);
    const std::optional<DequantizedOperand> w =
        DequantizedInput(graph_, node, 1);
    if (!x || !w || !x->one_scale() || !x->of_8_bits()) return false;
    const Constant& values = graph_.values[w->value].constant;
    if (values == nullptr || values->shape().size() < 3 ||
        (node.Int("group", 1) != 1 && values->shape()[1] != 1))
      return false;
    const int rank = static_cast<int>(values->shape().size());
    if (!w->one_scale() && w->AxisIn(graph_, rank) != 0) return false;
    const std::optional<Weights> weights = WeightsOf(*w, 0);
    if (!weights || !Fits(*weights, *x)) return false;
    const int64_t channels = values->shape()[0];
    const auto bias = BiasOf(node, channels);
    if (!bias) return false;

    OnnxNode sums = node;
    sums.op = "ConvInteger";
    sums.inputs = {
        x->value,
        graph_.AddValue(graph_.name(w->value) + ".i8", weights->centred),
        x->zero_id};
    sums.outputs = {graph_.AddValue(graph_.name(node.outputs[0]) + ".integer")};
    const ValueId result = sums.outputs[0];
    graph_.AppendNode(std::move(sums));
    Finish(node, result, *x, *w, channels, *bias, rank);
    return true;
  }

  bool ContractMatMul(const OnnxNode& node) {
    const bool gemm = node.Is("Gemm");
    const bool transposed = gemm && node.Int("transB", 0) != 0;
    if (gemm && (node.Int("transA", 0) != 0 || node.Float("alpha", 1) != 1 ||
                 node.Float("beta", 1) != 1))
      return false;
    const std::optional<DequantizedOperand> x =
        DequantizedInput(graph_, node, 0);
    const std::optional<DequantizedOperand> w =
        DequantizedInput(graph_, node, 1);
    if (!x || !w || !x->one_scale() || !x->of_8_bits()) return false;
    const Constant& values = graph_.values[w->value].constant;
    if (values == nullptr || values->shape().size() != 2) return false;
    const int64_t channel = transposed ? 0 : 1;
    if (!w->one_scale() && w->AxisIn(graph_, 2) != channel) return false;
    const std::optional<Weights> weights = WeightsOf(*w, channel);
    if (!weights || !Fits(*weights, *x)) return false;
    const int64_t channels = values->shape()[channel];
    const auto bias = gemm ? BiasOf(node, channels) : std::vector<float>();
    if (!bias) return false;

    Constant b = weights->centred;
    if (transposed) {
      const int64_t terms = values->shape()[1];
      auto turned = std::make_shared<HostTensor>(NewTensorOrThrow(
          DType::kInt8, {terms, channels},
          absl::StrCat("integer weights '", graph_.name(w->value), "'")));
      for (int64_t i = 0; i < b->num_elements(); ++i)
        turned->Set(i, b->Get(i % channels * terms + i / channels));
      b = std::move(turned);
    }
    const ValueId sums = AddNode(
        node, "MatMulInteger", ".integer",
        {x->value, graph_.AddValue(graph_.name(w->value) + ".i8", std::move(b)),
         x->zero_id},
        kNoValue);
    Finish(node, sums, *x, *w, channels, *bias, 0);
    return true;
  }

  OnnxGraph& graph_;
};

}  // namespace

void UseIntegerContractions(OnnxGraph& graph) { Rewriter(graph).Run(); }

}  // namespace tilewright
