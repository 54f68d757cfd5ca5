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
//   pooling, and   T.tile_x, T.tile_y   the axis whose elements lie side by
//   elementwise                         side, and the next one outside of it,
//   computes                            in two
//   row reductions T.rfactor            steps in two, the inner ones as vectors
//   of softmax,    T.tile_y             rows in two
//   norms
//
// TVM's schedules of the last three have no knobs of their own. Elementwise
// computes may be inlined instead.
#ifndef TILEWRIGHT_SKETCH_TEMPLATES_TEMPLATES_H_
#define TILEWRIGHT_SKETCH_TEMPLATES_TEMPLATES_H_

#include "sketch/rules/generator.h"

namespace tilewright::sketch {

// "template". A workload with none of the reductions above is refused.
Generator TemplateGenerator();

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TEMPLATES_TEMPLATES_H_
