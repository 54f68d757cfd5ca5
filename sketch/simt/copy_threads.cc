#include "sketch/simt/copy_threads.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "sketch/simt/own_loops.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/thread_loops.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/layout.h"

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

// Whether some predicate of the copy is about its axes from `first` on, as
// where a last step is no whole one.
bool IsGuarded(const Block& copy, size_t first) {
  std::set<int> vars;
  for (size_t i = first; i < copy.bindings.size(); ++i)
    vars.merge(VarsOf(copy.bindings[i]));
  return std::any_of(
      copy.predicates.begin(), copy.predicates.end(),
      [&](const Expr& predicate) { return MentionsAny(predicate, vars); });
}

// Whether the operand lies in plain rows, and the copy has all of its elements
// along the dimensions behind `first`, unguarded from there on.
bool IsOnePiece(GrowingTrace& trace, const std::string& copy,
                const std::string& operand, const std::vector<int64_t>& extents,
                size_t first) {
  if (IsGuarded(*trace.FindBlockNamed(copy), first)) return false;
  for (const Buffer& buffer : trace.tree().buffers) {
    if (buffer.name != operand) continue;
    const std::vector<int64_t>& shape = buffer.layout.shape();
    return shape.size() == extents.size() &&
           buffer.layout == Layout::RowMajor(shape) &&
           std::equal(extents.begin() + first + 1, extents.end(),
                      shape.begin() + first + 1);
  }
  return false;
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
                               const std::string& operand, int dim,
                               int64_t threads) {
  const int64_t most_vector =
      kAccessBytes / SizeBytes(Copied(trace, copy).dtype);
  ScheduleWriter& writer = trace.writer();
  const Handle block = writer.Block(copy);
  std::vector<int64_t> extents = ExtentsOf(trace, copy);
  std::vector<Handle> loops;
  for (const Axis& axis : trace.FindBlockNamed(copy)->axes)
    loops.push_back(writer.Loop(block, axis.name));
  const auto behind = static_cast<size_t>(dim) + 1;
  if (behind + 1 < loops.size() &&
      IsOnePiece(trace, copy, operand, extents, behind)) {
    const auto first = loops.begin() + static_cast<std::ptrdiff_t>(behind);
    const Handle fused = writer.Fuse({first, loops.end()});
    loops.erase(first, loops.end());
    loops.push_back(fused);
    int64_t extent = 1;
    for (size_t i = behind; i < extents.size(); ++i) extent *= extents[i];
    extents.resize(behind);
    extents.push_back(extent);
  }
  // Neighbouring threads are those along the last axis.
  std::rotate(loops.begin() + dim, loops.begin() + dim + 1, loops.end());
  std::rotate(extents.begin() + dim, extents.begin() + dim + 1, extents.end());
  int64_t along = 1;
  while (along * 2 <= std::min({kWarpLanes, threads, extents.back()}))
    along *= 2;
  ThreadDivision division = DivideThreads({extents.begin(), extents.end() - 1},
                                          threads / along, most_vector);
  // Threads that the other axes leave over.
  int64_t taken = along;
  for (const int64_t t : division.threads) taken *= t;
  for (; taken * 2 <= threads && along * 2 <= extents.back(); taken *= 2)
    along *= 2;
  division.vector_axis = extents.size() - 2;
  division.threads.push_back(along);
  division.loops = std::move(loops);
  division.extents = std::move(extents);
  return division;
}

}  // namespace tilewright::sketch
