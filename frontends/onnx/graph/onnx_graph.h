// An ONNX graph in memory: nodes in topological order, values by number.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_ONNX_GRAPH_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_ONNX_GRAPH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "onnx/onnx_pb.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// Index into OnnxGraph::values; kNoValue for an input or output left out.
using ValueId = int;
constexpr ValueId kNoValue = -1;

struct Subgraph;

struct Attribute {
  enum class Type {
    kInt,
    kFloat,
    kString,
    kTensor,
    kInts,
    kFloats,
    kStrings,
    kGraph,
    kOther,  // sparse tensors, types: no supported operator has them
  };
  Type type = Type::kOther;
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::shared_ptr<const HostTensor> tensor;
  int narrow_bits = 0;  // of the elements of `tensor`, as in ElementType
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  // An error is of a graph that is damaged, or none if nobody needs it.
  std::shared_ptr<const absl::StatusOr<Subgraph>> graph;
};

struct OnnxNode {
  std::string name;
  std::string domain;  // "" for ai.onnx
  std::string op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  // Not of the model but of a rewrite, which may give an operator types that
  // the model's opset does not allow.
  bool is_rewritten = false;
  // Of an operator that a rewrite chose; 0: the model's.
  int64_t opset = 0;
  // What the graphs in its attributes use of the values around them.
  std::vector<ValueId> captured;

  // Whether it is this operator of ONNX's own.
  bool Is(absl::string_view standard_op) const {
    return domain.empty() && op == standard_op;
  }
  // Whether others take its place before it is inferred: it runs graphs in its
  // attributes, or makes or reads sequences of tensors.
  bool IsControlFlow() const { return Is("If") || Is("Loop") || Is("Scan"); }
  bool IsOfSequences() const;
  // An attribute of a type that the operator's schema has checked; `otherwise`
  // if it is left out, or an empty list.
  int64_t Int(absl::string_view attribute, int64_t otherwise) const;
  float Float(absl::string_view attribute, float otherwise) const;
  std::vector<int64_t> Ints(absl::string_view attribute,
                            std::vector<int64_t> otherwise) const;
  // Calls `fn` with every value that it reads, or a graph in its attributes.
  template <typename Function>
  void ForEachRead(const Function& fn) const {
    for (const std::vector<ValueId>* ids : {&inputs, &captured}) {
      for (const ValueId id : *ids) {
        if (id != kNoValue) fn(id);
      }
    }
  }
};

// The type and shape that the model declares for a value. A dimension is a
// number, a name, or unknown (both empty).
struct DeclaredDim {
  std::optional<int64_t> value;
  std::string name;
};
struct DeclaredType {
  bool is_tensor = false;
  int element_type = 0;  // TensorProto::DataType; 0 if not said
  std::optional<std::vector<DeclaredDim>> shape;
};

struct OnnxValue {
  std::string name;
  int producer = -1;  // index into nodes
  std::shared_ptr<const HostTensor> constant;
  int narrow_bits = 0;  // of the elements of `constant`, as in ElementType
  std::optional<DeclaredType> declared;
};

struct OnnxGraph {
  std::map<std::string, int64_t> opsets;  // by domain, "" for ai.onnx
  std::vector<OnnxValue> values;
  std::vector<OnnxNode> nodes;
  std::vector<ValueId> inputs;  // without those that have an initialiser
  std::vector<ValueId> outputs;

  // Of ai.onnx; 0 if the model names none.
  int64_t opset() const;
  // By which the node's operator is meant.
  int64_t OpsetOf(const OnnxNode& node) const {
    return node.opset > 0 ? node.opset : opset();
  }
  // For messages: "node 'fc' (Gemm)".
  std::string Label(const OnnxNode& node) const;
  const std::string& name(ValueId value) const { return values[value].name; }
  // The node that makes the value; null for kNoValue, inputs and constants.
  const OnnxNode* ProducerOf(ValueId value) const;
  // A value that no node makes.
  ValueId AddValue(std::string value_name,
                   std::shared_ptr<const HostTensor> constant = nullptr);
  // Makes its outputs.
  void AppendNode(OnnxNode node);
};

// A graph in an attribute. Its inputs are those that it has, then the values of
// the graph around it that it uses, OnnxNode::captured by name.
struct Subgraph {
  OnnxGraph graph;
  size_t own_inputs = 0;
};

// InvalidArgument, naming what it found: a name that nothing defines, a value
// or input defined twice, a cycle, a damaged tensor. Takes the weights out of
// `model` as it goes, so that they are held once.
absl::StatusOr<OnnxGraph> BuildOnnxGraph(onnx::ModelProto model);

// How many inputs of nodes and outputs of the graph each value is.
std::vector<int> CountReaders(const OnnxGraph& graph);

// Removes the nodes no output needs. Values stay, so ValueIds stay valid.
void RemoveDeadNodes(OnnxGraph& graph);

// Makes outputs after a node's first that nobody reads kNoValue, so that
// nothing is computed for them (the mask of a Dropout). Not before types are
// inferred: to some operators it means something that an output is there.
void DropUnreadOutputs(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_ONNX_GRAPH_H_
