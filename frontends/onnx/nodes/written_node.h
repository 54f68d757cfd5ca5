// Nodes that take the place of a model's, named as the one that they stand for.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_WRITTEN_NODE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_WRITTEN_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// Of all loops and sequences of a model.
inline constexpr int64_t kMostUnrolled = 100'000;

// An operator as opset `opset` means it.
OnnxNode WrittenNode(const OnnxNode& by, std::string op, int64_t opset,
                     std::vector<ValueId> inputs, ValueId output);

Attribute IntAttribute(int64_t value);
Attribute IntsAttribute(std::vector<int64_t> values);

ValueId NewConstant(HostTensor tensor, OnnxGraph& graph);
ValueId NewInteger(int64_t value, OnnxGraph& graph);  // a scalar, i64

// `to` is the same as `from`.
OnnxNode SameAs(const OnnxNode& by, ValueId from, ValueId to);
// `slice` is `whole` at a place along `axis`, which it has no more.
OnnxNode SliceAt(const OnnxNode& by, ValueId whole, int64_t axis, int64_t place,
                 ValueId slice, OnnxGraph& graph);
// Adds to `nodes` what puts slices together along a new dimension `axis`.
void StackSlices(const OnnxNode& by, const std::vector<ValueId>& slices,
                 int64_t axis, ValueId output, OnnxGraph& graph,
                 std::vector<OnnxNode>& nodes);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_WRITTEN_NODE_H_
