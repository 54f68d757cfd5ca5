// Executes a block tree element by element, for tests: replay is judged by it
// without any lowering. It shows what a tree means and is as slow as that.
#ifndef TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_INTERPRETER_H_
#define TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_INTERPRETER_H_

#include <map>

#include "absl/status/statusor.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::sketch {

struct BlockTreeRunOptions {
  bool last_task_first = false;  // tasks may run in any order
};

// `inputs`: one per placeholder. Arithmetic in double and exact integers, as
// the reference interpreter's. Local buffers are forgotten from task to task.
// Internal names block and element for: a read or write outside what is held, a
// read of what this task has not written, a second write to an element that
// leaves the group, or none.
absl::StatusOr<std::map<TensorId, HostTensor>> RunBlockTree(
    const BlockTree& tree, const Workload& workload,
    const std::map<TensorId, HostTensor>& inputs, BlockTreeRunOptions options);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_INTERPRETER_H_
