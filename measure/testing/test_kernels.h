// Workloads for the verifier's tests, in text form, and right kernels for them.
#ifndef TILEWRIGHT_MEASURE_TESTING_TEST_KERNELS_H_
#define TILEWRIGHT_MEASURE_TESTING_TEST_KERNELS_H_

#include <string>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "measure/verify/candidate.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::measure {

struct NamedWorkload {
  std::string name;
  sketch::Workload workload;
  bool exact;  // made of ring operations, max, min and moves
};

// Gemm with bias and relu (7 x 19 x 33), convolution with inline padding (its
// output in 16-channel blocks with a zero halo), depthwise convolution, max
// pooling, softmax, layer norm, argmax, fp16 sum, int8 gemm, gather, two
// outputs, a sum and its norm as two outputs.
std::vector<NamedWorkload> TestWorkloads();
// One of them. CHECKs that it exists.
sketch::Workload TestWorkload(const std::string& name);

// A kernel for the workload, untransformed: plain loops. CHECKs that it lowers.
struct PlainKernel {
  kernel_ir::Kernel kernel;
  Arguments arguments;
};
PlainKernel LowerPlainly(const sketch::Workload& workload);
// The global buffers of a block tree, in order.
Arguments ArgumentsOf(const sketch::BlockTree& tree);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_TEST_KERNELS_H_
