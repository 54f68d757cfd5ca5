// The common part of rewrites that replace some computes of a graph by others:
// it copies the rest, and drops what nobody reads any more.
//
//   for (const Tensor& tensor : old.tensors())
//     ids.push_back(Replaced(tensor) ? ... : CopyTensor(tensor, ids, graph));
//   return FinishRewrite(old, std::move(graph), std::move(ids));
#ifndef TILEWRIGHT_TILEGRAPH_IR_GRAPH_REWRITE_H_
#define TILEWRIGHT_TILEGRAPH_IR_GRAPH_REWRITE_H_

#include <vector>

#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

struct RewrittenGraph {
  TensorGraph graph;
  std::vector<TensorId> ids;  // by tensor of the old graph; -1: gone
};

// `body` with loads of ids[i] where it loads i.
Expr WithSources(const Expr& body, absl::Span<const TensorId> ids);

// Adds `tensor` to `graph`; what it reads has the ids there that `ids` says.
TensorId CopyTensor(const Tensor& tensor, absl::Span<const TensorId> ids,
                    TensorGraph& graph);

// The new graph with the outputs of the old one and what they need;
// placeholders stay, read or not. `ids`: of the old tensors in `graph`, -1
// where they are gone.
RewrittenGraph FinishRewrite(const TensorGraph& old, TensorGraph graph,
                             std::vector<TensorId> ids);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_GRAPH_REWRITE_H_
