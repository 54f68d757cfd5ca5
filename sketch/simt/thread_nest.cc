#include "sketch/simt/thread_nest.h"

#include <algorithm>
#include <cstddef>

#include "base/ceil_div.h"
#include "sketch/tree/thread_loops.h"

namespace tilewright::sketch {

int64_t ThreadDivision::elements_per_thread() const {
  int64_t elements = 1;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t along = vector_along(d);
    elements *= CeilDiv(extents[d], threads[d] * along) * along;
  }
  return elements;
}

ThreadDivision DivideThreads(const std::vector<int64_t>& extents,
                             int64_t threads, int64_t most_vector) {
  ThreadDivision division;
  division.threads.assign(extents.size(), 1);
  if (extents.empty()) return division;
  while (division.vector * 2 <= most_vector &&
         extents.back() % (division.vector * 2) == 0)
    division.vector *= 2;
  for (size_t d = extents.size(); d-- > 0 && threads > 1;) {
    const int64_t pieces =
        d + 1 == extents.size() ? extents[d] / division.vector : extents[d];
    int64_t& along = division.threads[d];
    while (along * 2 <= std::min(threads, pieces)) along *= 2;
    threads /= along;
  }
  return division;
}

NestHandles CutNest(ScheduleWriter& writer, Handle block,
                    const ThreadDivision& division, NestKind kind,
                    int64_t lanes) {
  NestHandles nest;
  std::vector<Handle> vectors, warps, beside;
  // Lanes that are left to be taken, from the last axis on.
  int64_t left = kWarpLanes / lanes;
  for (size_t i = division.threads.size(); i-- > 0;) {
    const int64_t vector = division.vector_along(i);
    int64_t in_warp = 1;
    if (kind == NestKind::kBesideLanes) {
      while (left > 1 && division.threads[i] % (in_warp * 2) == 0) {
        in_warp *= 2;
        left /= 2;
      }
    }
    const int64_t threads = division.threads[i];
    const std::vector<Handle> parts = writer.Split(
        division.loops.empty() ? writer.Loop(block, division.axes[i])
                               : division.loops[i],
        {CeilDiv(division.extents[i], threads * vector), threads / in_warp,
         in_warp, vector});
    nest.elements.insert(nest.elements.begin(), parts[0]);
    const bool has_warps = kind == NestKind::kBesideLanes;
    writer.Bind(parts[1], has_warps ? "warp" : "thread");
    writer.Bind(parts[2], has_warps ? "lane" : "thread");
    warps.insert(warps.begin(), parts[1]);
    beside.insert(beside.begin(), parts[2]);
    vectors.insert(vectors.begin(), parts[3]);
  }
  nest.threads = warps;
  nest.threads.insert(nest.threads.end(), beside.begin(), beside.end());
  nest.elements.insert(nest.elements.end(), vectors.begin(), vectors.end());
  return nest;
}

void ArrangeNest(ScheduleWriter& writer, const std::vector<Handle>& order,
                 const NestHandles& nest) {
  writer.Reorder(order);
  writer.Annotate(nest.elements.front(), "tile");
}

void WriteMap(ScheduleWriter& writer, const std::string& name,
              const ThreadDivision& division) {
  const NestHandles nest =
      CutNest(writer, writer.Block(name), division, NestKind::kThreads);
  std::vector<Handle> order = nest.threads;
  order.insert(order.end(), nest.elements.begin(), nest.elements.end());
  ArrangeNest(writer, order, nest);
}

}  // namespace tilewright::sketch
