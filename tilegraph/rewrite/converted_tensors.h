// Tensors of a graph in another floating-point type, for rewrites that make a
// new graph of it.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_CONVERTED_TENSORS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_CONVERTED_TENSORS_H_

#include <map>
#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

class ConvertedTensors {
 public:
  // `ids`: the tensors of `graph`, which grows, that stand for those of `old`.
  ConvertedTensors(const TensorGraph& old, DType dtype,
                   const std::vector<TensorId>& ids, TensorGraph& graph)
      : old_(old), dtype_(dtype), ids_(ids), graph_(graph) {}

  // "NAME.DTYPE": `tensor`, of the old graph and already in the new one, as a
  // compute of its own, so that it can be written where the tensor is made. A
  // constant is converted here, of a tensor among zeros what is among them.
  TensorId Of(const Tensor& tensor);

 private:
  Expr Converted(const Expr& e);

  const TensorGraph& old_;
  const DType dtype_;
  const std::vector<TensorId>& ids_;
  TensorGraph& graph_;
  std::map<TensorId, TensorId> known_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_CONVERTED_TENSORS_H_
