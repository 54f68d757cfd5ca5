// Decides which buffers threads have for themselves and which their block
// shares, for a kernel of the tile tier whose loops are given to threads.
//
// A local buffer that only one nest uses belongs to each of its threads: an
// iteration reads nothing that another has computed (sketch/tree/dataflow.h).
// A register buffer that several nests use does too if in all of them the
// index tells the owner of an element, the same one; where an index does not
// depend on some loop of a nest, its threads all hold what they have computed
// alike. All other local buffers are the block's. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_PLAN_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_PLAN_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/threads/combine_lanes.h"

namespace tilewright::lowering {

struct ThreadPlan {
  CombinedLanes lanes;
  // Buffers of which each thread has its own; their indices are within that.
  std::set<int> own;
  std::vector<std::string> demoted;  // register buffers that the block shares
};

// Rewrites the kernel: nests that combine lanes (combine_lanes.h), indices of
// what threads own, register buffers that the block shares. Stores of equal
// values by several threads are left to the first of them. The tile interpreter
// does not understand what comes of it. Unimplemented naming the buffer if two
// threads may write one of its elements. REQUIRES: kernel.threads > 0.
absl::StatusOr<ThreadPlan> PlanThreads(kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_PLAN_H_
