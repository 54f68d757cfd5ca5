// The workloads whose sketches TVM's tests count (TVM 0.18,
// test_auto_scheduler_sketch_generation.py), of any size.
#ifndef TILEWRIGHT_SKETCH_TESTING_ANSOR_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_ANSOR_WORKLOADS_H_

#include <cstdint>

#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// C[m, n] = sum A[m, k] · B[k, n].
Workload AnsorMatmul(int64_t m, int64_t n, int64_t k);
// C = A · B, E = C · D, all n × n.
Workload AnsorDoubleMatmul(int64_t n);
// A padded 3x3 convolution, bias, scale and offset per channel, max with 0.
Workload AnsorConvBnRelu(int64_t size, int64_t in, int64_t out);
// Windows of 2x2 of a padded image.
Workload AnsorMaxPool(int64_t channels, int64_t size);
// The least of each row.
Workload AnsorMin(int64_t rows, int64_t columns);
Workload AnsorSoftmax(int64_t rows, int64_t columns);
// Over the last of four dimensions.
Workload AnsorSoftmax4(int64_t a, int64_t b, int64_t c, int64_t d);
// F(2, 3) of a 3x3 convolution, image and filters of `size` pixels, in
// transforms by constant matrices; the filters come transformed. REQUIRES:
// `size` is even.
Workload AnsorWinograd(int64_t size, int64_t in, int64_t out);
// A vector's sum.
Workload AnsorZeroRank(int64_t n);

// One of them, small. Same seed, same workload.
Workload DrawAnsor(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_ANSOR_WORKLOADS_H_
