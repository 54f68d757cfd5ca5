// The elements a block tree touches, found by running its loops step by step:
// the oracle of everything that features count.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_TESTING_TRACED_TREE_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_TESTING_TRACED_TREE_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sketch/tree/block_tree.h"

namespace tilewright::costmodel {

struct TracedAccess {
  // Places in the buffer, in elements, step by step, of steps that touch it;
  // what a select may leave out counts, what lies outside the buffer does not.
  std::vector<std::vector<int64_t>> places;
  // Number of distinct places while loops i, i + 1, ... run and those further
  // out are at 0.
  std::vector<int64_t> distinct;
};

struct TracedBlock {
  const sketch::Block* block;
  int64_t steps = 0;  // that no predicate or guard leaves out
  std::map<int, TracedAccess> accesses;  // by buffer
};

// Traces all blocks, in order. Data-dependent indices are taken to be 0.
std::vector<TracedBlock> Trace(const sketch::BlockTree& tree);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_TESTING_TRACED_TREE_H_
