// The chain a default schedule takes a group for: maps, perhaps one reduction
// that reads them, maps that read its result, one output.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_GROUP_CHAIN_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_GROUP_CHAIN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

struct Chain {
  std::optional<TensorId> reduction;
  std::vector<std::string> inlined;  // maps, in order: their bodies go into
                                     // what reads them
  std::string last;                  // block that writes the output
  TensorId output = 0;
};

// InvalidArgument if the group has several outputs or reductions.
absl::StatusOr<Chain> FindChain(const TensorGraph& graph);

// The body of `tensor` once the maps of the group that it reads are inlined:
// it loads placeholders, constants and reductions only.
std::vector<Expr> InlinedBody(const TensorGraph& graph, TensorId tensor);

// Calls `fn` for every load in `body`.
void ForEachLoad(absl::Span<const Expr> body,
                 const std::function<void(const Expr&)>& fn);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_GROUP_CHAIN_H_
