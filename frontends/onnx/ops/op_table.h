// Which operators exist, and what is done with each.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_OP_TABLE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_OP_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_def.h"

namespace tilewright {

constexpr int64_t kMinOpset = 6;
constexpr int64_t kMaxOpset = 25;

class OpTable {
 public:
  OpTable();
  // The row for a node; null if there is none.
  const OpDef* Find(absl::string_view domain, absl::string_view op,
                    int64_t opset) const;
  // All operators, sorted.
  std::vector<std::string> names() const;
  // Unimplemented with every operator, domain and opset of the graph that is
  // not supported, all in one line.
  absl::Status CheckSupported(const OnnxGraph& graph) const;

 private:
  std::map<std::string, std::vector<OpDef>, std::less<>> rows_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_OP_TABLE_H_
