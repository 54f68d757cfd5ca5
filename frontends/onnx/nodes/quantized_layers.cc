#include "frontends/onnx/nodes/quantized_layers.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "frontends/onnx/graph/known_values.h"
#include "frontends/onnx/nodes/dequantized_operand.h"
#include "frontends/onnx/nodes/quantize_grid.h"

namespace tilewright {
namespace {

// Whether there is one number, or one for each channel.
bool IsByChannel(const HostTensor& values, int64_t channels) {
  return values.num_elements() == 1 ||
         values.shape() == std::vector<int64_t>{channels};
}

class Finder {
 public:
  explicit Finder(OnnxGraph& graph)
      : graph_(graph), readers_(CountReaders(graph)) {}

  void Run() {
    for (OnnxNode& node : graph_.nodes) {
      const std::optional<QuantizeGrid> grid = GridOf(graph_, node);
      const OnnxNode* layer = grid ? LayerBefore(node, *grid) : nullptr;
      if (layer == nullptr) continue;
      if (std::optional<OnnxNode> whole = Whole(*layer, node))
        node = *std::move(whole);
    }
  }

 private:
  const OnnxNode* OnlyReadBy(const OnnxNode& reader) const {
    const ValueId value = reader.inputs[0];
    if (value == kNoValue || readers_[value] != 1) return nullptr;
    return graph_.ProducerOf(value);
  }

  // The layer that nobody but `quantize` reads, or bounds that change nothing.
  const OnnxNode* LayerBefore(const OnnxNode& quantize,
                              const QuantizeGrid& grid) const {
    const OnnxNode* node = OnlyReadBy(quantize);
    if (node != nullptr && IsWithin(*node, grid)) node = OnlyReadBy(*node);
    return node;
  }

  // The number that a bound of Clip is, if it is known: `otherwise` where it is
  // left out. Exporters write nodes for them.
  std::optional<float> Bound(const OnnxNode& clip, size_t i,
                             float otherwise) const {
    if (i >= clip.inputs.size() || clip.inputs[i] == kNoValue) return otherwise;
    const HostTensor* known = KnownInput(graph_, clip, i);
    const OnnxNode* producer = graph_.ProducerOf(clip.inputs[i]);
    if (producer != nullptr && producer->Is("Constant")) {
      const auto value = producer->attributes.find("value");
      if (value != producer->attributes.end())
        known = value->second.tensor.get();
    }
    if (known == nullptr || known->num_elements() != 1 ||
        known->dtype() != DType::kFloat32)
      return std::nullopt;
    return static_cast<float>(known->Get(0).f);
  }

  // Whether the node only cuts off what the grid cuts off anyway.
  bool IsWithin(const OnnxNode& node, const QuantizeGrid& grid) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::optional<float> low = 0, high = kInfinity;
    if (node.Is("Clip")) {
      low = Bound(node, 1, node.Float("min", -kInfinity));
      high = Bound(node, 2, node.Float("max", kInfinity));
    } else if (!node.Is("Relu")) {
      return false;
    }
    return low && high &&
           grid.Unbounded(*low / grid.scale) <=
               static_cast<float>(grid.least) &&
           grid.Unbounded(*high / grid.scale) >= static_cast<float>(grid.most);
  }

  // Both nodes, and what dequantizes their operands, as one.
  std::optional<OnnxNode> Whole(const OnnxNode& layer,
                                const OnnxNode& quantize) const {
    const bool conv = layer.Is("Conv");
    if (!conv && !layer.Is("MatMul")) return std::nullopt;
    const auto x = DequantizedInput(graph_, layer, 0);
    const auto w = DequantizedInput(graph_, layer, 1);
    if (!x || !w || !x->one_scale() || !x->of_8_bits() || !w->of_8_bits() ||
        x->narrow_bits != 0 || w->narrow_bits != 0)
      return std::nullopt;
    const auto& weights = graph_.values[w->value].constant;
    if (weights == nullptr || weights->dtype() != w->zero->dtype())
      return std::nullopt;
    const std::vector<int64_t>& shape = weights->shape();
    const int rank = static_cast<int>(shape.size());
    if (conv ? rank < 3 : rank != 2) return std::nullopt;
    const int channel = conv ? 0 : 1;
    const int64_t channels = shape[channel];
    if (channels < 1 || !IsByChannel(*w->scale, channels) ||
        !IsByChannel(*w->zero, channels) ||
        (!w->one_scale() && w->AxisIn(graph_, rank) != channel))
      return std::nullopt;
    if (conv && layer.Int("group", 1) != 1 && shape[1] != 1)
      return std::nullopt;
    const auto largest_bias = LargestBias(layer, *x, *w, channels);
    // The sums, of any data.
    const int64_t terms = weights->num_elements() / channels;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (!largest_bias || terms > (kMost - *largest_bias) / (255 * 255))
      return std::nullopt;

    OnnxNode whole;
    whole.name = layer.name;
    whole.op = conv ? "QLinearConv" : "QLinearMatMul";
    whole.attributes = layer.attributes;
    whole.inputs = {x->value,           x->scale_id,       x->zero_id,
                    w->value,           w->scale_id,       w->zero_id,
                    quantize.inputs[1], quantize.inputs[2]};
    if (const auto bias = DequantizedInput(graph_, layer, 2))
      whole.inputs.push_back(bias->value);
    whole.outputs = quantize.outputs;
    whole.is_rewritten = true;
    whole.opset = kQLinearOpset;
    return whole;
  }

  // The largest magnitude of a layer's bias, which is a multiple of the step of
  // its products; 0 without one, nullopt if it is another.
  std::optional<int64_t> LargestBias(const OnnxNode& layer,
                                     const DequantizedOperand& x,
                                     const DequantizedOperand& w,
                                     int64_t channels) const {
    if (layer.inputs.size() < 3 || layer.inputs[2] == kNoValue) return 0;
    const auto bias = DequantizedInput(graph_, layer, 2);
    if (!bias) return std::nullopt;
    const auto& values = graph_.values[bias->value].constant;
    if (values == nullptr || values->dtype() != DType::kInt32 ||
        values->shape() != std::vector<int64_t>{channels} ||
        !IsByChannel(*bias->scale, channels) ||
        !IsByChannel(*bias->zero, channels))
      return std::nullopt;
    int64_t largest = 0;
    for (int64_t c = 0; c < channels; ++c) {
      if (bias->zero_of(c) != 0 ||
          bias->scale_of(c) != x.scale_of(0) * w.scale_of(c))
        return std::nullopt;
      largest = std::max(largest, std::abs(values->Get(c).i));
    }
    return largest;
  }

  static constexpr int64_t kQLinearOpset = 10;  // that has them first

  OnnxGraph& graph_;
  const std::vector<int> readers_;
};

}  // namespace

void UseQuantizedLayers(OnnxGraph& graph) { Finder(graph).Run(); }

}  // namespace tilewright
