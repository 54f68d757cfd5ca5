#include "tilegraph/ir/arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tilewright {
namespace {

bool AliveTogether(const BufferLifetime& a, const BufferLifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

int64_t LeastArenaBytes(absl::Span<const BufferLifetime> buffers) {
  std::map<int, int64_t> change;  // by step: bytes that come, less what goes
  for (const BufferLifetime& buffer : buffers) {
    change[buffer.first] += buffer.size_bytes;
    change[buffer.last + 1] -= buffer.size_bytes;
  }
  int64_t alive = 0, most = 0;
  for (const auto& [step, bytes] : change) {
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

BufferPlacement PlaceBuffers(absl::Span<const BufferLifetime> buffers,
                             int64_t alignment_bytes) {
  const auto round_up = [&](int64_t bytes) {
    return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  };
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return buffers[a].size_bytes > buffers[b].size_bytes;
  });
  BufferPlacement placement;
  placement.offset_bytes.assign(buffers.size(), 0);
  std::vector<int> placed;
  for (const int buffer : order) {
    const int64_t size = round_up(buffers[buffer].size_bytes);
    std::vector<std::pair<int64_t, int64_t>> taken;  // [begin, end)
    for (const int other : placed) {
      if (!AliveTogether(buffers[buffer], buffers[other])) continue;
      const int64_t begin = placement.offset_bytes[other];
      taken.emplace_back(begin, begin + round_up(buffers[other].size_bytes));
    }
    std::sort(taken.begin(), taken.end());
    int64_t end = 0, best = -1, best_gap = 0;
    for (const auto& [begin, next_end] : taken) {
      const int64_t gap = begin - end;
      if (gap >= size && (best < 0 || gap < best_gap))
        best = end, best_gap = gap;
      end = std::max(end, next_end);
    }
    placement.offset_bytes[buffer] = best >= 0 ? best : end;
    placement.arena_bytes =
        std::max(placement.arena_bytes, placement.offset_bytes[buffer] + size);
    placed.push_back(buffer);
  }
  return placement;
}

}  // namespace tilewright
