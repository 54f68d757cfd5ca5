#include "frontends/onnx/graph/onnx_graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/captured_names.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

constexpr size_t kLongestCycleShown = 8;

class Builder {
 public:
  absl::StatusOr<OnnxGraph> Build(onnx::ModelProto model) {
    TW_RETURN_IF_ERROR(ReadOpsets(model));
    onnx::GraphProto& graph = *model.mutable_graph();
    TW_RETURN_IF_ERROR(ReadInitializers(graph));
    TW_RETURN_IF_ERROR(ReadInputs(graph));
    TW_RETURN_IF_ERROR(ReadNodes(graph));
    TW_RETURN_IF_ERROR(ReadOutputs(graph));
    for (const onnx::ValueInfoProto& info : graph.value_info()) {
      Declare(info);
    }
    TW_RETURN_IF_ERROR(CheckDefined());
    TW_RETURN_IF_ERROR(SortNodes());
    return std::move(graph_);
  }

 private:
  static absl::Status Twice(absl::string_view what, absl::string_view name) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", Quoted(name),
                     " is defined twice; names must be unique, export the "
                     "model again"));
  }

  ValueId Intern(const std::string& name) {
    const auto [at, is_new] =
        ids_.try_emplace(name, static_cast<ValueId>(graph_.values.size()));
    if (is_new) {
      graph_.values.emplace_back().name = name;
      defined_.push_back(false);
    }
    return at->second;
  }

  // False if it is defined already.
  bool Define(ValueId id) {
    if (defined_[id]) return false;
    defined_[id] = true;
    return true;
  }

  void Declare(const onnx::ValueInfoProto& info) {
    const auto at = ids_.find(info.name());
    if (at == ids_.end()) return;  // About a value that does not exist.
    DeclaredType type;
    if (info.type().has_tensor_type()) {
      const onnx::TypeProto::Tensor& tensor = info.type().tensor_type();
      type.is_tensor = true;
      type.element_type = tensor.elem_type();
      if (tensor.has_shape()) {
        type.shape.emplace();
        for (const auto& proto : tensor.shape().dim()) {
          DeclaredDim& dim = type.shape->emplace_back();
          if (proto.has_dim_value()) dim.value = proto.dim_value();
          if (proto.has_dim_param()) dim.name = proto.dim_param();
        }
      }
    } else if (info.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) {
      return;
    }
    // Who says it first and with a shape: inputs, outputs, then the rest.
    std::optional<DeclaredType>& declared = graph_.values[at->second].declared;
    if (!declared.has_value() || !declared->shape.has_value()) {
      declared = std::move(type);
    }
  }

  absl::Status ReadOpsets(const onnx::ModelProto& model) {
    for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
      const std::string domain =
          opset.domain() == "ai.onnx" ? "" : opset.domain();
      const auto [at, is_new] =
          graph_.opsets.try_emplace(domain, opset.version());
      if (!is_new && at->second != opset.version()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the model imports two opsets of domain ",
                         Quoted(domain.empty() ? "ai.onnx" : domain), ", ",
                         at->second, " and ", opset.version(), "; keep one"));
      }
    }
    if (graph_.opsets.empty()) {
      return absl::InvalidArgumentError(
          "the model names no opset (opset_import is empty); export it again");
    }
    return absl::OkStatus();
  }

  absl::Status ReadInitializers(onnx::GraphProto& graph) {
    if (graph.sparse_initializer_size() > 0) {
      return absl::UnimplementedError(absl::StrCat(
          "tensor ", Quoted(graph.sparse_initializer(0).values().name()),
          " is sparse, which is not supported; store it densely"));
    }
    for (onnx::TensorProto& proto : *graph.mutable_initializer()) {
      const ValueId id = Intern(proto.name());
      if (!Define(id)) return Twice("initializer", proto.name());
      TW_ASSIGN_OR_RETURN(HostTensor tensor, ToHostTensor(proto));
      graph_.values[id].constant =
          std::make_shared<const HostTensor>(std::move(tensor));
      graph_.values[id].narrow_bits =
          ElementTypeOf(proto.data_type())->narrow_bits;
      onnx::TensorProto().Swap(&proto);  // Frees the bytes.
    }
    return absl::OkStatus();
  }

  absl::Status ReadInputs(const onnx::GraphProto& graph) {
    std::vector<bool> seen;
    for (const onnx::ValueInfoProto& info : graph.input()) {
      const ValueId id = Intern(info.name());
      seen.resize(graph_.values.size());
      if (seen[id]) return Twice("input", info.name());
      seen[id] = true;
      Declare(info);
      // With an initializer it is a weight that ONNX of old also lists here.
      if (Define(id)) graph_.inputs.push_back(id);
    }
    return absl::OkStatus();
  }

  // As a model of its own, which what it captures are inputs of.
  absl::StatusOr<Subgraph> BuildSubgraph(const onnx::GraphProto& proto,
                                         OnnxNode& node) {
    onnx::ModelProto model;
    for (const auto& [domain, version] : graph_.opsets) {
      onnx::OperatorSetIdProto& opset = *model.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    *model.mutable_graph() = proto;
    const std::set<std::string> captured = CapturedNames(proto);
    for (const std::string& name : captured) {
      node.captured.push_back(Intern(name));
      model.mutable_graph()->add_input()->set_name(name);
    }
    TW_ASSIGN_OR_RETURN(OnnxGraph graph, BuildOnnxGraph(std::move(model)));
    RemoveDeadNodes(graph);
    const size_t own_inputs = graph.inputs.size() - captured.size();
    return Subgraph{std::move(graph), own_inputs};
  }

  absl::Status ReadAttribute(const onnx::AttributeProto& proto, OnnxNode& node,
                             Attribute& attribute) {
    using Type = Attribute::Type;
    switch (proto.type()) {
      case onnx::AttributeProto::INT:
        attribute.type = Type::kInt;
        attribute.i = proto.i();
        break;
      case onnx::AttributeProto::FLOAT:
        attribute.type = Type::kFloat;
        attribute.f = proto.f();
        break;
      case onnx::AttributeProto::STRING:
        attribute.type = Type::kString;
        attribute.s = proto.s();
        break;
      case onnx::AttributeProto::TENSOR: {
        absl::StatusOr<HostTensor> tensor = ToHostTensor(proto.t());
        if (!tensor.ok()) {
          return absl::Status(tensor.status().code(),
                              absl::StrCat(graph_.Label(node), ", attribute ",
                                           Quoted(proto.name()), ": ",
                                           tensor.status().message()));
        }
        attribute.type = Type::kTensor;
        attribute.tensor =
            std::make_shared<const HostTensor>(*std::move(tensor));
        attribute.narrow_bits =
            ElementTypeOf(proto.t().data_type())->narrow_bits;
        break;
      }
      case onnx::AttributeProto::INTS:
        attribute.type = Type::kInts;
        attribute.ints.assign(proto.ints().begin(), proto.ints().end());
        break;
      case onnx::AttributeProto::FLOATS:
        attribute.type = Type::kFloats;
        attribute.floats.assign(proto.floats().begin(), proto.floats().end());
        break;
      case onnx::AttributeProto::STRINGS:
        attribute.type = Type::kStrings;
        attribute.strings.assign(proto.strings().begin(),
                                 proto.strings().end());
        break;
      case onnx::AttributeProto::GRAPH:
        attribute.type = Type::kGraph;
        attribute.graph = std::make_shared<const absl::StatusOr<Subgraph>>(
            BuildSubgraph(proto.g(), node));
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }

  absl::Status ReadNodes(onnx::GraphProto& graph) {
    for (onnx::NodeProto& proto : *graph.mutable_node()) {
      const int index = static_cast<int>(graph_.nodes.size());
      OnnxNode node;
      node.name = proto.name();
      node.domain = proto.domain() == "ai.onnx" ? "" : Escaped(proto.domain());
      node.op = Escaped(proto.op_type());
      for (const std::string& name : proto.input()) {
        node.inputs.push_back(name.empty() ? kNoValue : Intern(name));
      }
      for (const std::string& name : proto.output()) {
        node.outputs.push_back(name.empty() ? kNoValue : Intern(name));
      }
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        if (!Define(id)) {
          return absl::InvalidArgumentError(absl::StrCat(
              "value ", Quoted(graph_.name(id)), " of ", graph_.Label(node),
              " is defined twice; names must be unique, export the model "
              "again"));
        }
        graph_.values[id].producer = index;
      }
      for (const onnx::AttributeProto& attribute : proto.attribute()) {
        const auto [at, is_new] = node.attributes.try_emplace(attribute.name());
        if (!is_new) {
          return absl::InvalidArgumentError(absl::StrCat(
              graph_.Label(node), " has attribute ", Quoted(attribute.name()),
              " twice; export the model again"));
        }
        TW_RETURN_IF_ERROR(ReadAttribute(attribute, node, at->second));
      }
      onnx::NodeProto().Swap(&proto);
      graph_.nodes.push_back(std::move(node));
    }
    return absl::OkStatus();
  }

  absl::Status ReadOutputs(const onnx::GraphProto& graph) {
    if (graph.output_size() == 0) {
      return absl::InvalidArgumentError(
          "the model has no outputs; export it again");
    }
    for (const onnx::ValueInfoProto& info : graph.output()) {
      const auto at = ids_.find(info.name());
      if (at == ids_.end() || !defined_[at->second]) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", Quoted(info.name()),
                         " is defined by no input, initializer or node; export "
                         "the model again"));
      }
      Declare(info);
      graph_.outputs.push_back(at->second);
    }
    return absl::OkStatus();
  }

  absl::Status CheckDefined() const {
    for (const OnnxNode& node : graph_.nodes) {
      ValueId undefined = kNoValue;
      node.ForEachRead([&](ValueId id) {
        if (undefined == kNoValue && !defined_[id]) undefined = id;
      });
      if (undefined != kNoValue) {
        return absl::InvalidArgumentError(absl::StrCat(
            graph_.Label(node), " reads ", Quoted(graph_.name(undefined)),
            ", which no input, initializer or node defines; export the model "
            "again"));
      }
    }
    return absl::OkStatus();
  }

  // Stable: nodes that are in order already stay as they are.
  absl::Status SortNodes() {
    const int count = static_cast<int>(graph_.nodes.size());
    std::vector<int> missing(count, 0);
    std::vector<std::vector<int>> users(count);
    for (int n = 0; n < count; ++n) {
      graph_.nodes[n].ForEachRead([&](ValueId id) {
        const int producer = graph_.values[id].producer;
        if (producer < 0) return;
        ++missing[n];
        users[producer].push_back(n);
      });
    }
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    for (int n = 0; n < count; ++n) {
      if (missing[n] == 0) ready.push(n);
    }
    std::vector<int> order;
    order.reserve(count);
    while (!ready.empty()) {
      const int n = ready.top();
      ready.pop();
      order.push_back(n);
      for (const int user : users[n]) {
        if (--missing[user] == 0) ready.push(user);
      }
    }
    if (static_cast<int>(order.size()) < count) return Cycle(missing);

    std::vector<OnnxNode> sorted(count);
    std::vector<int> position(count);
    for (int i = 0; i < count; ++i) {
      sorted[i] = std::move(graph_.nodes[order[i]]);
      position[order[i]] = i;
    }
    graph_.nodes = std::move(sorted);
    for (OnnxValue& value : graph_.values) {
      if (value.producer >= 0) value.producer = position[value.producer];
    }
    return absl::OkStatus();
  }

  // Every node with missing[n] > 0 has a producer of that kind: walking back
  // from one of them comes round.
  absl::Status Cycle(const std::vector<int>& missing) const {
    std::vector<int> step(graph_.nodes.size(), -1);
    std::vector<ValueId> path;
    int at = static_cast<int>(std::find_if(missing.begin(), missing.end(),
                                           [](int m) { return m > 0; }) -
                              missing.begin());
    while (step[at] < 0) {
      step[at] = static_cast<int>(path.size());
      ValueId through = kNoValue;
      graph_.nodes[at].ForEachRead([&](ValueId id) {
        const int producer = graph_.values[id].producer;
        if (through == kNoValue && producer >= 0 && missing[producer] > 0)
          through = id;
      });
      path.push_back(through);
      at = graph_.values[through].producer;
    }
    // Values from the last to the first, then round: in the order of data.
    std::string text;
    size_t shown = 0;
    for (size_t i = path.size(); i-- > static_cast<size_t>(step[at]);) {
      if (++shown > kLongestCycleShown) {
        absl::StrAppend(&text, "... -> ");
        break;
      }
      absl::StrAppend(&text, Quoted(graph_.name(path[i])), " -> ");
    }
    absl::StrAppend(&text, Quoted(graph_.name(path.back())));
    return absl::InvalidArgumentError(absl::StrCat(
        "the graph has a cycle: ", text, "; export the model again"));
  }

  OnnxGraph graph_;
  absl::flat_hash_map<std::string, ValueId> ids_;
  std::vector<bool> defined_;
};

}  // namespace

absl::StatusOr<OnnxGraph> BuildOnnxGraph(onnx::ModelProto model) {
  return Builder().Build(std::move(model));
}

}  // namespace tilewright
