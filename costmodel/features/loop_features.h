// AutoTVM's features of a program's loops, one row a program (Chen et al.,
// "Learning to Optimize Tensor Programs", section 4): of the block with most
// operations, loop by loop ("itervar"), and as relations that do not depend on
// how many loops there are ("curve", the paper's context relation features),
// which compare kernels of different operators. Read from the replayed tree.
//
// All numbers are log2(x + 1), but for kinds and curves; lengths are fixed.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_LOOP_FEATURES_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_LOOP_FEATURES_H_

#include <vector>

#include "sketch/tree/block_tree.h"

namespace tilewright::costmodel {

inline constexpr int kFeaturedLoops = 16;
inline constexpr int kFeaturedBuffers = 3;

// A loop: extent; loops outside of it; steps of it and those outside; of it and
// those inside; serial, parallel, unrolled or vectorised (4); additions,
// products and divisions of all steps inside. And of each buffer: the stride;
// whether its steps touch other elements; distinct elements touched while it
// runs; how often each on average.
inline constexpr int kFeaturesOfALoop = 4 + 4 + 3 + 4 * kFeaturedBuffers;
inline constexpr int kLoopFeatures = kFeaturedLoops * kFeaturesOfALoop;

// The innermost 16 loops, the innermost first; 0 where there are fewer. The
// buffers are those with most bytes touched, the written one first.
std::vector<float> LoopFeatures(const sketch::BlockTree& tree);

// Points of a curve: 0, 1, ... in powers of two.
inline constexpr int kCurvePoints = 20;
inline constexpr int kCurveFeatures = kFeaturedBuffers * 4 * kCurvePoints * 2;

// Each buffer has four relations over the loops: touched -> reuse, reuse ->
// touched, touched -> steps outside, steps outside -> touched; all in log2.
// Sampled at x = 0, 1, ..., 19: the y of the loop with the largest x that is
// not above, and how far below that x is; both 0 where there is none.
std::vector<float> CurveFeatures(const sketch::BlockTree& tree);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_LOOP_FEATURES_H_
