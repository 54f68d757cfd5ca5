// Loops that the threads of a block share (bind): inside the task loops, which
// are then the grid, each nest of such loops runs its iterations at the same
// time, and one nest after the other. What is kept in scratch between nests the
// block shares; what is kept in registers belongs to the threads.
//
// The loops of a nest stand directly inside each other. Their iterations are
// numbered like digits, the innermost loop the fastest: those of kThread loops
// give the number of a thread, those of kLane loops the lane of a warp, those
// of the kWarp loops around them the warp. Threads whose number no iteration
// has are idle. What stands in no such nest is done by the first thread.
//
// A lane loop may carry a reduction, if the lanes do nothing else: a block of
// one component, all of whose reduce axes lie on lanes, in a tile. Its terms
// are combined in a tree: neighbours first, then pairs, and so on.
#ifndef TILEWRIGHT_SKETCH_TREE_THREAD_LOOPS_H_
#define TILEWRIGHT_SKETCH_TREE_THREAD_LOOPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Lanes that exchange registers; right on GPUs with wider warps as well.
inline constexpr int64_t kWarpLanes = 32;
inline constexpr int64_t kMostThreads = 1024;  // of a block

inline bool IsOnThreads(const Loop& loop) {
  return loop.kind == LoopKind::kThread || loop.kind == LoopKind::kWarp ||
         loop.kind == LoopKind::kLane;
}

// The loops of the nest that begins with `outermost`, outermost first; those of
// extent 1 too. REQUIRES: IsOnThreads(outermost).
std::vector<const Loop*> ThreadNest(const Loop& outermost);

// Iteration i of a loop is done by threads n with n / stride mod wraps = i;
// wraps 0: n / stride = i.
struct ThreadPlace {
  int64_t stride = 1;
  int64_t wraps = 0;
};
// By loop variable.
std::map<int, ThreadPlace> ThreadPlaces(const std::vector<const Loop*>& nest);
// Threads that a nest needs; whole warps where it has lanes.
int64_t ThreadsOf(const std::vector<const Loop*>& nest);

// InvalidArgument naming the loop if nests are not as above: loops of a nest
// apart or of kinds that do not go together, too many threads or lanes, a
// reduction along threads that is none of lanes.
absl::Status CheckThreads(const BlockTree& tree);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_THREAD_LOOPS_H_
