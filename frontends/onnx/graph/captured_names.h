// What graphs inside of nodes use of the graph around them.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_CAPTURED_NAMES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_CAPTURED_NAMES_H_

#include <set>
#include <string>

#include "onnx/onnx_pb.h"

namespace tilewright {

// The names that `subgraph` uses, or a graph inside of it, and it does not
// define.
std::set<std::string> CapturedNames(const onnx::GraphProto& subgraph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_CAPTURED_NAMES_H_
