// Graphs whose plans are known.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_TEST_GRAPHS_H_
#define TILEWRIGHT_TILEGRAPH_TILING_TEST_GRAPHS_H_

#include <cstdint>

#include "tilegraph/tensor_graph.h"

namespace tilewright {

// Y = softmax over n of A[m, k] * B[k, n]; five computes, 'C' the product.
TensorGraph MatmulSoftmax(int64_t m, int64_t k, int64_t n);

// Conv 3x3 'C' of [in, size, size], ReLU 'R', max pooling 2x2 with stride 2
// 'P' (the example of Welder's figure 5).
TensorGraph ConvReluPool(int64_t in, int64_t out, int64_t size);

// C = A[m, k] * B[k, n].
TensorGraph Matmul(int64_t m, int64_t k, int64_t n);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_TEST_GRAPHS_H_
