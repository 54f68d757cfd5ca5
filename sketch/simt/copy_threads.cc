#include "sketch/simt/copy_threads.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sketch/simt/own_loops.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/thread_loops.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kAccessBytes = 16;  // the widest access of a thread

const Buffer& Copied(GrowingTrace& trace, const std::string& copy) {
  return trace.tree().buffers[trace.FindBlockNamed(copy)->dst[0]];
}

std::vector<int64_t> ExtentsOf(GrowingTrace& trace, const std::string& copy) {
  std::vector<int64_t> extents;
  for (const LoopAround& loop : OwnLoops(trace, copy))
    extents.push_back(loop.extent);
  return extents;
}

}  // namespace

ThreadDivision DivideAlongSource(GrowingTrace& trace, const std::string& copy,
                                 int64_t threads) {
  const std::vector<int64_t> extents = ExtentsOf(trace, copy);
  ThreadDivision division = DivideThreads(
      extents, threads, kAccessBytes / SizeBytes(Copied(trace, copy).dtype));
  for (const Axis& axis : trace.FindBlockNamed(copy)->axes)
    division.axes.push_back(axis.name);
  division.extents = extents;
  return division;
}

ThreadDivision DivideAlongCopy(GrowingTrace& trace, const std::string& copy,
                               int dim, int64_t threads) {
  ThreadDivision division;
  for (const Axis& axis : trace.FindBlockNamed(copy)->axes)
    division.axes.push_back(axis.name);
  division.extents = ExtentsOf(trace, copy);
  division.threads.assign(division.axes.size(), 1);
  // Neighbouring threads are those along the last axis.
  std::rotate(division.axes.begin() + dim, division.axes.begin() + dim + 1,
              division.axes.end());
  std::rotate(division.extents.begin() + dim,
              division.extents.begin() + dim + 1, division.extents.end());
  int64_t left = threads;
  const auto take = [&](size_t axis, int64_t most) {
    int64_t& along = division.threads[axis];
    while (along * 2 <= std::min({most, left, division.extents[axis]}))
      along *= 2;
    left /= along;
  };
  take(division.axes.size() - 1, kWarpLanes);
  for (size_t axis = 0; axis < division.axes.size() && left > 1; ++axis)
    if (division.threads[axis] == 1) take(axis, left);
  return division;
}

}  // namespace tilewright::sketch
