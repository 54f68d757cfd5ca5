#include "frontends/onnx/nodes/find_group_norms.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/known_values.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright {
namespace {

// Since this opset scale and bias are per channel.
constexpr int64_t kPerChannel = 21;
constexpr int64_t kPerGroup = 18;

class Finder {
 public:
  Finder(OnnxGraph& graph, std::vector<ValueInfo>& infos)
      : graph_(graph), infos_(infos), only_reader_(graph.values.size(), -1) {
    const std::vector<int> readers = CountReaders(graph);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const ValueId id : graph.nodes[n].inputs) {
        if (id != kNoValue && readers[id] == 1)
          only_reader_[id] = static_cast<int>(n);
      }
    }
  }

  void Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) Rewrite(n);
  }

 private:
  // The node that reads `value` and is its only reader, if it is such an `op`.
  OnnxNode* OnlyReader(ValueId value, const char* op) {
    const int reader = only_reader_[value];
    if (reader < 0) return nullptr;
    OnnxNode& node = graph_.nodes[reader];
    return node.Is(op) ? &node : nullptr;
  }

  const Shape& ShapeOf(ValueId value) const { return infos_[value].shape; }

  // `back`: the node behind the norm, which gives the image its shape again.
  void Rewrite(size_t n) {
    const OnnxNode& norm = graph_.nodes[n];
    if (!norm.Is("InstanceNormalization")) return;
    const OnnxNode* reshape = graph_.ProducerOf(norm.inputs[0]);
    if (reshape == nullptr || !reshape->Is("Reshape")) return;
    const ValueId image = reshape->inputs[0];
    OnnxNode* back = OnlyReader(norm.outputs[0], "Reshape");
    const Shape& shape = ShapeOf(image);
    const Shape& grouped = ShapeOf(norm.inputs[0]);
    if (back == nullptr || back->inputs[0] != norm.outputs[0] ||
        ShapeOf(back->outputs[0]) != shape || shape.size() < 3 ||
        grouped[0] != shape[0] || shape[1] % grouped[1] != 0)
      return;
    OnnxNode made;
    made.name = norm.name;
    made.op = "GroupNormalization";
    made.inputs = {image, norm.inputs[1], norm.inputs[2]};
    made.attributes = norm.attributes;
    made.attributes["num_groups"].type = Attribute::Type::kInt;
    made.attributes["num_groups"].i = grouped[1];
    made.is_rewritten = true;
    made.opset = kPerGroup;
    OnnxNode* last = TakeChannels(norm, *back, made);
    made.outputs = {last->outputs[0]};
    *last = std::move(made);
  }

  // Multiplications and additions of known channels behind the norm go into
  // `made`; the last node that it takes the place of.
  OnnxNode* TakeChannels(const OnnxNode& norm, OnnxNode& back, OnnxNode& made) {
    const HostTensor* scale = KnownInput(graph_, norm, 1);
    const HostTensor* bias = KnownInput(graph_, norm, 2);
    if (scale == nullptr || bias == nullptr) return &back;
    const Shape& shape = ShapeOf(back.outputs[0]);
    const int64_t channels = shape[1];
    const int64_t size = channels / scale->num_elements();
    std::vector<double> factors, shifts;
    for (int64_t c = 0; c < channels; ++c) {
      factors.push_back(scale->Get(c / size).f);
      shifts.push_back(bias->Get(c / size).f);
    }
    OnnxNode* last = &back;
    if (OnnxNode* mul = OnlyReader(last->outputs[0], "Mul")) {
      if (const auto other = Channels(*mul, last->outputs[0], shape)) {
        for (int64_t c = 0; c < channels; ++c) {
          factors[c] *= other->Get(c).f;
          shifts[c] *= other->Get(c).f;
        }
        last = mul;
      }
    }
    if (OnnxNode* add = OnlyReader(last->outputs[0], "Add")) {
      if (const auto other = Channels(*add, last->outputs[0], shape)) {
        for (int64_t c = 0; c < channels; ++c) shifts[c] += other->Get(c).f;
        last = add;
      }
    }
    made.inputs[1] = Constant(norm, ".scale", factors);
    made.inputs[2] = Constant(norm, ".bias", shifts);
    made.opset = kPerChannel;
    return last;
  }

  // The other operand, if it is known and has one value for each channel.
  const HostTensor* Channels(const OnnxNode& node, ValueId operand,
                             const Shape& shape) const {
    const size_t other = node.inputs[0] == operand ? 1 : 0;
    const HostTensor* known = KnownInput(graph_, node, other);
    if (known == nullptr || known->num_elements() != shape[1] ||
        ShapeOf(node.outputs[0]) != shape)
      return nullptr;
    // Aligned with the last dimensions, all but the channels have extent 1.
    const Shape& own = known->shape();
    if (own.size() + 1 < shape.size() || own.size() > shape.size())
      return nullptr;
    const size_t axis = own.size() + 1 - shape.size();
    return own[axis] == shape[1] ? known : nullptr;
  }

  ValueId Constant(const OnnxNode& norm, const char* suffix,
                   const std::vector<double>& values) {
    const std::string name = absl::StrCat(graph_.name(norm.outputs[0]), suffix);
    HostTensor tensor = NewTensorOrThrow(infos_[norm.outputs[0]].dtype,
                                         {static_cast<int64_t>(values.size())},
                                         absl::StrCat("constant '", name, "'"));
    for (size_t i = 0; i < values.size(); ++i)
      tensor.Set(static_cast<int64_t>(i), Scalar{values[i], 0});
    return AddKnown(graph_, infos_, name, std::move(tensor));
  }

  OnnxGraph& graph_;
  std::vector<ValueInfo>& infos_;
  std::vector<int> only_reader_;  // by value; -1: several or none
};

}  // namespace

void FindGroupNorms(OnnxGraph& graph, std::vector<ValueInfo>& infos) {
  Finder(graph, infos).Run();
}

}  // namespace tilewright
