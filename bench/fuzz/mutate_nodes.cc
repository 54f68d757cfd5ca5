#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/fuzz/mutations.h"
#include "bench/fuzz/odd_values.h"
#include "frontends/onnx/ops/op_table.h"

namespace tilewright::bench {
namespace {

using onnx::AttributeProto;

constexpr const char* kNames[] = {"alpha",
                                  "axes",
                                  "axis",
                                  "auto_pad",
                                  "batch_dims",
                                  "beta",
                                  "blocksize",
                                  "ceil_mode",
                                  "dilations",
                                  "epsilon",
                                  "exclusive",
                                  "group",
                                  "keepdims",
                                  "kernel_shape",
                                  "mode",
                                  "noop_with_empty_axes",
                                  "num_outputs",
                                  "p",
                                  "pads",
                                  "perm",
                                  "reduction",
                                  "saturate",
                                  "select_last_index",
                                  "size",
                                  "split",
                                  "strides",
                                  "to",
                                  "transA",
                                  "transB",
                                  "value",
                                  "colour"};
constexpr const char* kWords[] = {
    "",          "NOTSET",     "SAME_UPPER",    "SAME_LOWER", "VALID",
    "nearest",   "linear",     "cubic",         "constant",   "reflect",
    "edge",      "wrap",       "none",          "sum",        "mean",
    "add",       "mul",        "max",           "DCR",        "CRD",
    "tanh",      "half_pixel", "align_corners", "asymmetric", "floor",
    "ij,jk->ik", "ii",         "two\nlines",    "\xff\xfe"};

// A node, or null where there is none.
onnx::NodeProto* AnyNode(onnx::ModelProto& model, Random& random) {
  auto& nodes = *model.mutable_graph()->mutable_node();
  if (nodes.empty()) return nullptr;
  return nodes.Mutable(static_cast<int>(random.Index(nodes.size())));
}

std::string Where(const onnx::NodeProto& node) {
  return absl::StrCat(node.op_type(), " of '",
                      node.output_size() > 0 ? node.output(0) : "", "'");
}

std::string ChangeList(AttributeProto& attribute, Random& random) {
  auto& ints = *attribute.mutable_ints();
  const int choice = static_cast<int>(random.UniformInt(0, 3));
  if (choice == 0 || ints.empty()) {
    attribute.add_ints(OddInteger(random, 1));
    return "an entry more";
  }
  if (choice == 1) {
    ints.RemoveLast();
    return "an entry less";
  }
  const int at = static_cast<int>(random.Index(ints.size()));
  const int64_t before = ints.Get(at);
  ints.Set(at, OddInteger(random, before));
  return absl::StrCat("entry ", at, " ", before, " -> ", ints.Get(at));
}

void SetAnyValue(AttributeProto& attribute, Random& random) {
  switch (random.UniformInt(0, 4)) {
    case 0:
      attribute.set_type(AttributeProto::FLOAT);
      attribute.set_f(static_cast<float>(OddFloat(random, 1)));
      break;
    case 1:
      attribute.set_type(AttributeProto::STRING);
      attribute.set_s(AnyOf(kWords, random));
      break;
    case 2:
      attribute.set_type(AttributeProto::INTS);
      for (int64_t n = random.UniformInt(0, 4); n > 0; --n)
        attribute.add_ints(OddInteger(random, 1));
      break;
    default:
      attribute.set_type(AttributeProto::INT);
      attribute.set_i(OddInteger(random, 1));
  }
}

std::string ChangeAttribute(AttributeProto& attribute, Random& random) {
  if (random.Bernoulli(0.08)) {
    const std::string name = attribute.name();
    attribute.Clear();
    attribute.set_name(name);
    SetAnyValue(attribute, random);
    return "another type";
  }
  if (random.Bernoulli(0.04)) {
    attribute.set_name(AnyOf(kNames, random));
    return absl::StrCat("renamed to ", attribute.name());
  }
  switch (attribute.type()) {
    case AttributeProto::INT: {
      const int64_t before = attribute.i();
      attribute.set_i(OddInteger(random, before));
      return absl::StrCat(before, " -> ", attribute.i());
    }
    case AttributeProto::FLOAT: {
      const float before = attribute.f();
      attribute.set_f(static_cast<float>(OddFloat(random, before)));
      return absl::StrCat(before, " -> ", attribute.f());
    }
    case AttributeProto::STRING: {
      attribute.set_s(AnyOf(kWords, random));
      return absl::StrCat("-> '", attribute.s(), "'");
    }
    case AttributeProto::INTS:
      return ChangeList(attribute, random);
    case AttributeProto::FLOATS:
      attribute.add_floats(static_cast<float>(OddFloat(random, 1)));
      return "an entry more";
    default:
      attribute.set_type(AttributeProto::INT);
      return "another type";
  }
}

}  // namespace

std::string MutateAttribute(onnx::ModelProto& model, Random& random) {
  // Nodes that have attributes are chosen more often.
  onnx::NodeProto* node = AnyNode(model, random);
  for (int k = 0; k < 4 && node != nullptr && node->attribute_size() == 0; ++k)
    node = AnyNode(model, random);
  if (node == nullptr) return "";
  if (node->attribute_size() == 0 || random.Bernoulli(0.2)) {
    AttributeProto* added = node->add_attribute();
    added->set_name(AnyOf(kNames, random));
    SetAnyValue(*added, random);
    return absl::StrCat("attribute ", added->name(), " added to ",
                        Where(*node));
  }
  auto& attributes = *node->mutable_attribute();
  const int at = static_cast<int>(random.Index(attributes.size()));
  const std::string name = attributes.Get(at).name();
  if (random.Bernoulli(0.1)) {
    attributes.DeleteSubrange(at, 1);
    return absl::StrCat("attribute ", name, " dropped from ", Where(*node));
  }
  const std::string change = ChangeAttribute(*attributes.Mutable(at), random);
  return absl::StrCat("attribute ", name, " of ", Where(*node), ": ", change);
}

std::string MutateEdge(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return "";
  const std::string where = Where(*node);
  const int choice = static_cast<int>(random.UniformInt(0, 6));
  if (choice == 0 || node->input_size() == 0) {
    node->add_input(AnyName(graph, random));
    return absl::StrCat("input more at ", where);
  }
  const int at = static_cast<int>(random.Index(node->input_size()));
  switch (choice) {
    case 1:
      node->mutable_input()->DeleteSubrange(at, 1);
      return absl::StrCat("input ", at, " of ", where, " removed");
    case 2:
      node->set_input(at, "");
      return absl::StrCat("input ", at, " of ", where, " left out");
    case 3:
      node->mutable_input()->SwapElements(0, at);
      return absl::StrCat("inputs 0 and ", at, " of ", where, " swapped");
    case 4:
      node->add_output(random.Bernoulli(0.3) ? AnyName(graph, random)
                                             : absl::StrCat("new", at));
      return absl::StrCat("output more at ", where);
    default:
      node->set_input(at, AnyName(graph, random));
      return absl::StrCat("input ", at, " of ", where, " -> '", node->input(at),
                          "'");
  }
}

std::string MutateOperator(onnx::ModelProto& model, Random& random) {
  static const std::vector<std::string>& operators =
      *new std::vector<std::string>(OpTable().names());
  onnx::NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return "";
  const std::string where = Where(*node);
  if (random.Bernoulli(0.05)) {
    node->set_domain("com.example");
    return absl::StrCat(where, " in domain com.example");
  }
  node->set_op_type(random.Bernoulli(0.05)
                        ? "Frobnicate"
                        : operators[random.Index(operators.size())]);
  if (random.Bernoulli(0.5)) node->clear_attribute();
  return absl::StrCat(where, " -> ", node->op_type());
}

std::string MutateNodes(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return "";
  const std::string where = Where(*node);
  const int at = static_cast<int>(random.Index(graph.node_size()));
  switch (random.UniformInt(0, 3)) {
    case 0:
      *graph.add_node() = onnx::NodeProto(*node);
      return absl::StrCat(where, " twice");
    case 1:
      graph.mutable_node()->DeleteSubrange(at, 1);
      return absl::StrCat("node ", at, " removed");
    case 2:
      graph.mutable_node()->SwapElements(0, at);
      return absl::StrCat("nodes 0 and ", at, " swapped");
    default: {
      const std::string name = AnyName(graph, random);
      if (node->output_size() > 0) node->set_output(0, name);
      return absl::StrCat(where, " gives '", name, "'");
    }
  }
}

}  // namespace tilewright::bench
