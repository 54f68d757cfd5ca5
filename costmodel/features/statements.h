// The work of a replayed tree's blocks, counted without lowering it: which
// elements they touch inside each of their loops, how often they run, with
// which operations. Features are made of it.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_STATEMENTS_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_STATEMENTS_H_

#include <cstdint>
#include <vector>

#include "costmodel/features/index_form.h"
#include "costmodel/features/operation_counts.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::costmodel {

// All that a block reads and writes of one buffer.
struct BufferAccess {
  int buffer;  // its id
  bool reads = false, writes = false;
  // Those whose steps change which element is touched.
  LoopSet moving_loops = 0;
  // Distinct elements that are touched while loops i, i + 1, ... run and those
  // further out are at their first step; as many values as loops, and one for
  // a single step. Several loads of one buffer count with what lies between
  // them.
  std::vector<double> touched;
  // Elements in memory from one step of each loop to the next; 0 if it does not
  // move. Of several loads, the least.
  std::vector<int64_t> strides;
  // Neighbours in memory among all that is touched.
  double run = 1;
};

struct Statement {
  const sketch::Block* block;
  std::vector<const sketch::Loop*> loops;  // around it, outermost first
  double loop_steps = 1;                   // product of their extents
  double steps = 1;  // of these, those that run; see ShareOfSteps
  // The operations of a step. A reduction's combiner belongs to it, and so do
  // both branches of selects; indices do not.
  OperationCounts operations;
  std::vector<BufferAccess> accesses;  // by first occurrence; the written first
};

// The statements of all blocks, in order of execution. `tree` must outlive
// them.
std::vector<Statement> StatementsOf(const sketch::BlockTree& tree);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_STATEMENTS_H_
