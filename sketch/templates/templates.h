// AutoTVM's templates for CPUs as generators: fixed structures whose sizes are
// knobs (TVM 0.18, topi/x86: dense.py, batch_matmul.py, conv2d_avx_common.py,
// depthwise_conv2d.py). The structure is that of a sketch (derivation):
// accumulators of their own, copied out or read at the second level.
//
//   products       T.tile_y, T.tile_x   rows and columns in three parts
//                  T.tile_k             the reduced steps in two
//   convolutions   T.tile_ic, T.tile_oc channels in two parts
//                  T.tile_ow            the innermost pixels in two, tails too
//                  T.unroll_kw          whether the innermost taps are unrolled
//                                       inside the channels
//
// Other computes are inlined, or stay as they are.
#ifndef TILEWRIGHT_SKETCH_TEMPLATES_TEMPLATES_H_
#define TILEWRIGHT_SKETCH_TEMPLATES_TEMPLATES_H_

#include "sketch/rules/generator.h"

namespace tilewright::sketch {

// "template". Workloads without a product or a convolution are refused.
Generator TemplateGenerator();

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TEMPLATES_TEMPLATES_H_
