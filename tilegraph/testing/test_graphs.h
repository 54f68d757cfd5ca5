// Graphs whose plans are known.
#ifndef TILEWRIGHT_TILEGRAPH_TESTING_TEST_GRAPHS_H_
#define TILEWRIGHT_TILEGRAPH_TESTING_TEST_GRAPHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Y = softmax over n of A[m, k] * B[k, n]; five computes, 'C' the product.
TensorGraph MatmulSoftmax(int64_t m, int64_t k, int64_t n);

// Conv 3x3 'C' of [in, size, size], ReLU 'R', max pooling 2x2 with stride 2
// 'P' (the example of Welder's figure 5).
TensorGraph ConvReluPool(int64_t in, int64_t out, int64_t size);

// C = A[m, k] * B[k, n].
TensorGraph Matmul(int64_t m, int64_t k, int64_t n);

// Y = R * C, R = max(T, 0), T = A[rows, in] * B[in, hidden]. `outputs`: names,
// with commas between them; `combiner` of Y.
TensorGraph Mlp(int64_t rows, int64_t in, int64_t hidden, int64_t out,
                const std::string& outputs = "Y",
                const std::string& combiner = "sum");

// Matrices of [rows, width] and what is made of them, line by line: "T = A B"
// the product with B[width, width], "T = A B'" that with its transpose, "Y = T
// + U" their sum; anything with a colon is text form. What no line makes is a
// placeholder.
TensorGraph Products(int64_t rows, int64_t width,
                     const std::vector<std::string>& lines,
                     const std::string& outputs);

// Y = tanh(D), D a depthwise 3x3 of P, P the padded R = max(C, 0), C a
// pointwise convolution; [1, 16, 32, 32] all but P. `more`: further lines of
// text form.
TensorGraph TwoConvolutions(const std::string& outputs = "Y",
                            const std::string& more = "");

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TESTING_TEST_GRAPHS_H_
