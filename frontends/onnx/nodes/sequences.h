// Sequences of tensors, which live in the importer alone: which tensors they
// hold is known when compiling.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_SEQUENCES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_SEQUENCES_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

class Sequences {
 public:
  // Whether the node makes or reads a sequence.
  bool Handles(const OnnxNode& node) const;
  bool IsSequence(ValueId id) const { return elements_.count(id) > 0; }

  // The nodes that take the place of one that it handles: those that make
  // tensors of elements, or elements of tensors. `infos`: of the values that
  // the node reads.
  //
  // InvalidArgument: there is no such element, inputs do not fit.
  // Unimplemented: a position or a size is not known when compiling.
  absl::StatusOr<std::vector<OnnxNode>> Replace(
      const OnnxNode& node, const std::vector<ValueInfo>& infos,
      OnnxGraph& graph);

 private:
  using Nodes = absl::StatusOr<std::vector<OnnxNode>>;
  struct Place;  // a node among its surroundings

  absl::StatusOr<std::vector<ValueId>> ElementsOf(const Place& at,
                                                  size_t input) const;
  Nodes Insert(const Place& at);
  Nodes Erase(const Place& at);
  Nodes At(const Place& at) const;
  Nodes Length(const Place& at) const;
  Nodes Split(const Place& at);
  Nodes Concatenate(const Place& at) const;
  Nodes Map(const Place& at);

  std::map<ValueId, std::vector<ValueId>> elements_;  // by sequence
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_SEQUENCES_H_
