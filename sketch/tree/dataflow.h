// Whether the blocks of a tree may read what they read, where they stand.
// Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_TREE_DATAFLOW_H_
#define TILEWRIGHT_SKETCH_TREE_DATAFLOW_H_

#include "absl/status/status.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Ok, or InvalidArgument naming block and buffer: read before it is written;
// read inside a reduce loop of its writer; read beyond the part that the writer
// computes inside the loops common to both; written beyond the part that is
// held. What cannot be proven is refused.
absl::Status CheckDataflow(const BlockTree& tree);

// InvalidArgument naming the block if there are task loops and it stands
// outside the innermost of them.
absl::Status CheckTasks(const BlockTree& tree);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_DATAFLOW_H_
