#include "frontends/onnx/nodes/find_gelu.h"

#include <cmath>
#include <cstdint>

#include "frontends/onnx/nodes/written_node.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

// The opset that has it first.
constexpr int64_t kGeluOpset = 20;

class Finder {
 public:
  Finder(OnnxGraph& graph, const std::vector<ValueInfo>& infos)
      : graph_(graph), infos_(infos) {}

  void Run() {
    for (OnnxNode& node : graph_.nodes) {
      const ValueId x = GeluOf(node);
      // A constant of more dimensions than x would give the result more.
      if (x == kNoValue || infos_[x].shape != infos_[node.outputs[0]].shape)
        continue;
      node = WrittenNode(node, "Gelu", kGeluOpset, {x}, node.outputs[0]);
    }
  }

 private:
  // x, if the node is a product of x, a half and 1 + erf(x / sqrt(2)), of which
  // two are multiplied before it.
  ValueId GeluOf(const OnnxNode& node) const {
    if (!node.Is("Mul")) return kNoValue;
    for (int i = 0; i < 2; ++i) {
      const OnnxNode* inner = graph_.ProducerOf(node.inputs[i]);
      if (inner == nullptr || !inner->Is("Mul")) continue;
      const ValueId factors[] = {inner->inputs[0], inner->inputs[1],
                                 node.inputs[1 - i]};
      for (int half = 0; half < 3; ++half) {
        if (!IsNumber(factors[half], 0.5)) continue;
        const ValueId a = factors[(half + 1) % 3];
        const ValueId b = factors[(half + 2) % 3];
        if (Cumulative(a) == b) return b;
        if (Cumulative(b) == a) return a;
      }
    }
    return kNoValue;
  }

  // x, if `value` is 1 + erf(x / sqrt(2)).
  ValueId Cumulative(ValueId value) const {
    const OnnxNode* add = graph_.ProducerOf(value);
    if (add == nullptr || !add->Is("Add")) return kNoValue;
    const OnnxNode* erf = graph_.ProducerOf(OtherThan(*add, 1));
    if (erf == nullptr || !erf->Is("Erf")) return kNoValue;
    const OnnxNode* scaled = graph_.ProducerOf(erf->inputs[0]);
    if (scaled == nullptr) return kNoValue;
    if (scaled->Is("Mul")) return OtherThan(*scaled, std::sqrt(0.5));
    const bool divides =
        scaled->Is("Div") && IsNumber(scaled->inputs[1], std::sqrt(2));
    return divides ? scaled->inputs[0] : kNoValue;
  }

  // The operand beside the number.
  ValueId OtherThan(const OnnxNode& node, double number) const {
    for (int i = 0; i < 2; ++i) {
      if (IsNumber(node.inputs[i], number)) return node.inputs[1 - i];
    }
    return kNoValue;
  }

  // As near to it as the type comes.
  bool IsNumber(ValueId value, double number) const {
    const HostTensor* known = infos_[value].constant.get();
    return known != nullptr && known->num_elements() == 1 &&
           IsFloat(known->dtype()) &&
           known->Get(0).f == RoundTo(known->dtype(), {number, 0}).f;
  }

  OnnxGraph& graph_;
  const std::vector<ValueInfo>& infos_;
};

}  // namespace

void FindGelu(OnnxGraph& graph, const std::vector<ValueInfo>& infos) {
  Finder(graph, infos).Run();
}

}  // namespace tilewright
