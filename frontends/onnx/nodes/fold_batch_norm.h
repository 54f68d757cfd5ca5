// BatchNormalization into the weights before it.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_FOLD_BATCH_NORM_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_FOLD_BATCH_NORM_H_

#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// A Conv, ConvTranspose or Gemm whose weights and bias are known and whose
// result only a BatchNormalization of known parameters reads gets new weights
// and takes its place. Computed in double. `infos` is by ValueId and grows with
// the graph.
void FoldBatchNorm(OnnxGraph& graph, std::vector<ValueInfo>& infos);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_FOLD_BATCH_NORM_H_
