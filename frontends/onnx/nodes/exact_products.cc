#include "frontends/onnx/nodes/exact_products.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "frontends/onnx/graph/known_values.h"
#include "frontends/onnx/nodes/dequantized_operand.h"
#include "frontends/onnx/nodes/quantize_grid.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

// How far from a tie a quotient must be if what is divided is known but for the
// last bits of a function.
constexpr double kFromTies = 3e-4;

// Activations and concatenations in a row, behind the bytes.
constexpr int kMostNodes = 4;

// What the numbers at a place of a model can be.
struct Values {
  std::vector<float> all;
  bool exact = true;  // false: but for their last bits
};

class Finder {
 public:
  explicit Finder(const OnnxGraph& graph) : graph_(graph) {}

  // What to multiply with in place of the division; nullopt if nothing is known
  // to be as good.
  std::optional<float> FactorFor(const OnnxNode& quantize) const {
    const std::optional<QuantizeGrid> grid = GridOf(graph_, quantize);
    if (!grid) return std::nullopt;
    const std::optional<Values> values = ValuesOf(quantize, 0, kMostNodes);
    if (!values) return std::nullopt;
    const float near = 1 / grid->scale;
    if (!std::isfinite(near)) return std::nullopt;
    if (!values->exact) {
      return AwayFromTies(*grid, values->all) ? std::optional<float>(near)
                                              : std::nullopt;
    }
    for (const float factor :
         {near, std::nextafter(near, 0.0f),
          std::nextafter(near, std::numeric_limits<float>::max())}) {
      const bool same =
          std::all_of(values->all.begin(), values->all.end(), [&](float value) {
            return grid->Rounded(value / grid->scale) ==
                   grid->Rounded(value * factor);
          });
      if (same) return factor;
    }
    return std::nullopt;
  }

 private:
  static bool AwayFromTies(const QuantizeGrid& grid,
                           const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [&](float value) {
      const double quotient =
          static_cast<double>(value) / static_cast<double>(grid.scale);
      return std::abs(quotient - std::floor(quotient) - 0.5) > kFromTies;
    });
  }

  // All that input `i` of a node can be: a byte, or what at most `nodes` in a
  // row make of bytes.
  std::optional<Values> ValuesOf(const OnnxNode& node, size_t i,
                                 int nodes) const {
    if (const auto bytes = OfBytes(node, i)) {
      Values values;
      for (const double x : *bytes) values.all.push_back(static_cast<float>(x));
      return values;
    }
    const OnnxNode* producer = graph_.ProducerOf(node.inputs[i]);
    if (producer == nullptr || nodes == 0) return std::nullopt;
    if (producer->Is("Relu") || producer->Is("Sigmoid"))
      return Activated(*producer, nodes - 1);
    if (producer->Is("Concat")) return OfAny(*producer, nodes - 1);
    return OfPairs(*producer);
  }

  std::optional<Values> Activated(const OnnxNode& node, int nodes) const {
    std::optional<Values> values = ValuesOf(node, 0, nodes);
    const bool relu = node.Is("Relu");
    if (!values || (!relu && !values->exact)) return std::nullopt;
    for (float& one : values->all) {
      one = relu ? std::max(one, 0.0f)
                 : static_cast<float>(
                       1 / (1 + std::exp(-static_cast<double>(one))));
    }
    values->exact = values->exact && relu;
    return values;
  }

  std::optional<Values> OfAny(const OnnxNode& node, int nodes) const {
    Values any;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<Values> part = ValuesOf(node, i, nodes);
      if (!part) return std::nullopt;
      any.all.insert(any.all.end(), part->all.begin(), part->all.end());
      any.exact = any.exact && part->exact;
    }
    return any;
  }

  // A sum or product of two bytes, or of one and a number.
  std::optional<Values> OfPairs(const OnnxNode& node) const {
    const bool sum = node.Is("Add");
    if (!sum && !node.Is("Mul")) return std::nullopt;
    const auto a = OfBytes(node, 0), b = OfBytes(node, 1);
    if (!a || !b) return std::nullopt;
    Values result;
    result.all.reserve(2 * a->size() * b->size());
    for (const double x : *a) {
      for (const double y : *b) {
        // Operands rounded before, as machines do, and not.
        const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
        result.all.push_back(sum ? fx + fy : fx * fy);
        result.all.push_back(static_cast<float>(sum ? x + y : x * y));
      }
    }
    return result;
  }

  // All that an operand can be that is a dequantized byte, or a number.
  std::optional<std::vector<double>> OfBytes(const OnnxNode& node,
                                             size_t i) const {
    const HostTensor* known = KnownInput(graph_, node, i);
    if (known != nullptr && known->num_elements() == 1 &&
        known->dtype() == DType::kFloat32)
      return std::vector<double>{known->Get(0).f};
    const auto from = DequantizedInput(graph_, node, i);
    if (!from || !from->one_scale() || !from->of_8_bits() ||
        from->zero->num_elements() != 1)
      return std::nullopt;
    std::vector<double> values;
    const int64_t least = LeastOf(from->zero->dtype());
    for (int64_t q = least; q < least + 256; ++q) {
      values.push_back(static_cast<double>(q - from->zero_of(0)) *
                       static_cast<double>(from->scale_of(0)));
    }
    return values;
  }

  const OnnxGraph& graph_;
};

ValueId AddNumber(OnnxGraph& graph, const OnnxNode& node, const char* suffix,
                  float number) {
  auto tensor =
      std::make_shared<HostTensor>(DType::kFloat32, std::vector<int64_t>{});
  tensor->Set(0, Scalar{number, 0});
  return graph.AddValue(graph.name(node.outputs[0]) + suffix,
                        std::move(tensor));
}

}  // namespace

void UseExactProducts(OnnxGraph& graph) {
  std::vector<OnnxNode> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (OnnxNode& node : nodes) {
    if (const std::optional<float> factor = Finder(graph).FactorFor(node)) {
      OnnxNode mul;
      mul.name = node.name;
      mul.op = "Mul";
      mul.inputs = {node.inputs[0], AddNumber(graph, node, ".factor", *factor)};
      mul.outputs = {graph.AddValue(graph.name(node.outputs[0]) + ".scaled")};
      mul.is_rewritten = true;
      node.inputs[0] = mul.outputs[0];
      node.inputs[1] = AddNumber(graph, node, ".one", 1);
      graph.AppendNode(std::move(mul));
    }
    graph.AppendNode(std::move(node));
  }
}

}  // namespace tilewright
