// The loops of one stage, divided among the threads of a block. Internal to
// sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_THREAD_NEST_H_
#define TILEWRIGHT_SKETCH_SIMT_THREAD_NEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sketch/trace/schedule.h"

namespace tilewright::sketch {

// Along axis d, element i belongs to thread (i / w) mod threads[d], w being
// `vector` along the axis of the vectors, `rows` along the one before the last
// and 1 along the others. Neighbouring threads take neighbours along the last
// axis.
struct ThreadDivision {
  std::vector<std::string> axes;   // whose loops are cut,
  std::vector<Handle> loops = {};  // unless these are
  std::vector<int64_t> extents;
  std::vector<int64_t> threads;
  int64_t vector = 1;
  std::optional<size_t> vector_axis = {};  // the last one by default
  int64_t rows = 1;

  int64_t vector_along(size_t axis) const {
    if (axis == vector_axis.value_or(threads.size() - 1)) return vector;
    return axis + 2 == threads.size() ? rows : 1;
  }
  int64_t elements_per_thread() const;
};

// Vectors of up to `most_vector` elements along the last axis, then neighbours
// to neighbouring threads, in powers of two, as long as there are any.
ThreadDivision DivideThreads(const std::vector<int64_t>& extents,
                             int64_t threads, int64_t most_vector);

struct NestHandles {
  std::vector<Handle> threads;   // bound, outermost first
  std::vector<Handle> elements;  // of a thread; the vector innermost
};

enum class NestKind : uint8_t {
  kThreads,
  kBesideLanes,  // in warps, and in their lanes beside `lanes` others
};

// Cuts the block's loops over the axes. `lanes`: those that stand inside the
// threads' loops; they and the lanes taken here make up a warp.
NestHandles CutNest(ScheduleWriter& writer, Handle block,
                    const ThreadDivision& division, NestKind kind,
                    int64_t lanes = 1);
// Puts loops in this order; the elements become the tile.
void ArrangeNest(ScheduleWriter& writer, const std::vector<Handle>& order,
                 const NestHandles& nest);

// All of a block that reduces nothing: its threads, then their elements.
void WriteMap(ScheduleWriter& writer, const std::string& name,
              const ThreadDivision& division);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_THREAD_NEST_H_
