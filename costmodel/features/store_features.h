// Ansor's features of a scheduled program, one row of 164 numbers a store
// (Zheng et al., OSDI 2020, section 5.2 and appendix B; the order is that of
// TVM's auto_scheduler). They are read from the replayed block tree: nothing is
// lowered.
//
//   absl::StatusOr<sketch::BlockTree> tree = Replay(workload, schedule);
//   FeatureMatrix rows = StoreFeatures(*tree);
//
// A store is a block. All counts are log2(x + 1) of the number, kinds are 0 or
// 1. Where TVM's code approximates or has none, these count: products added at
// once are counted as such; a loop left out by a predicate does not run;
// cache lines follow the layout; positions of annotations are told.
//
//     57  operations of all steps by kind (16); the vectorised, the unrolled
//         and the parallel loops (11 each: number, product of extents, extent
//         of the innermost, its position as one of eight); GPU (8, 0 here)
//   5x18  the buffers with the most lines: read, written or both; bytes,
//         distinct bytes, lines, distinct lines; kind of reuse (the steps of a
//         loop, another statement, none), its distance in steps and in bytes,
//         its count; the four amounts by that count; the stride
//     10  operations on floats by bytes touched, at 10, 20, ... 100 % of all
//         operations
//      4  the local buffer: its bytes, steps outside and inside of its loop,
//         elements times steps outside
//      3  steps, loops, copies that an annotation asks for
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_STORE_FEATURES_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_STORE_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/feature_matrix.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::costmodel {

inline constexpr int kStoreFeatures = 164;

struct StoreFeatureOptions {
  int64_t line_bytes = 64;  // of the cache
  bool log_scale = true;
};

// One row a block, in order of execution.
FeatureMatrix StoreFeatures(const sketch::BlockTree& tree,
                            StoreFeatureOptions options = {});

// The name of each column: "float_mad", "buffer2.unique_lines", ...
const std::vector<std::string>& StoreFeatureNames();

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_STORE_FEATURES_H_
