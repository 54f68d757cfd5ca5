#include "tilegraph/gpu/hardware/thread_tile.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

constexpr int64_t kVectorBytes = 16;

int64_t PowerOfTwoFrom(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// Sectors that a warp stores to per sector's worth of elements, at least: rows
// of fewer bytes than a sector take one each.
double StoreWaste(const ThreadWork& work, const ThreadTile& tile) {
  if (work.extents.empty()) return 1;
  const int64_t run =
      std::min(tile.threads.back() * tile.vector, work.extents.back()) *
      work.element_bytes;
  return static_cast<double>(CeilDiv(run, work.sector_bytes) *
                             work.sector_bytes) /
         static_cast<double>(run);
}

class Search {
 public:
  Search(const ThreadWork& work, int64_t warp_size)
      : work_(work), warp_size_(warp_size) {}

  // Divides `left` threads over dimensions before `dim` and the terms; along
  // the others a thread has `elements`.
  void Divide(size_t dim, int64_t left, int64_t elements) {
    if (LeastSerial(elements * CeilDiv(before_[dim], left)) > most_serial_)
      return;
    if (dim == 0) {
      const int64_t most =
          tile_.elements_per_thread() > 1
              ? 1
              : std::min(warp_size_, PowerOfTwoFrom(work_.terms));
      tile_.reduce_threads = 1;
      while (tile_.reduce_threads * 2 <= most &&
             left % (tile_.reduce_threads * 2) == 0)
        tile_.reduce_threads *= 2;
      Consider();
      return;
    }
    const int64_t extent = work_.extents[dim - 1];
    const int64_t most = PowerOfTwoFrom(extent);
    const bool last = dim == work_.extents.size();
    for (const int64_t threads : divisors_) {
      if (threads > std::min(left, most)) break;
      if (left % threads != 0) continue;
      tile_.threads[dim - 1] = threads;
      for (int64_t vector = 1;
           vector == 1 ||
           (last && extent % vector == 0 && vector * threads <= extent &&
            vector * work_.element_bytes <= kVectorBytes);
           vector *= 2) {
        if (last) tile_.vector = vector;
        tile_.elements[dim - 1] =
            CeilDiv(extent, threads * (last ? vector : 1)) *
            (last ? vector : 1);
        Divide(dim - 1, left / threads, elements * tile_.elements[dim - 1]);
        if (!last) break;
      }
    }
  }

  ThreadTile Run(int64_t threads) {
    tile_.threads.assign(work_.extents.size(), 1);
    tile_.elements.assign(work_.extents.size(), 1);
    for (int64_t d = 1; d <= threads; ++d)
      if (threads % d == 0) divisors_.push_back(d);
    for (const int64_t extent : work_.extents)
      before_.push_back(before_.back() * extent);
    most_serial_ = SerialOfMostThreads(threads);
    Divide(work_.extents.size(), threads, 1);
    return *best_;
  }

 private:
  // Of a thread with so many elements; lanes share only those of one.
  int64_t LeastSerial(int64_t elements) const {
    return elements > 1 ? elements * work_.terms
                        : CeilDiv(work_.terms, warp_size_);
  }

  // As many threads along each dimension as there can be, the last one first:
  // not the best, but a way.
  int64_t SerialOfMostThreads(int64_t left) const {
    int64_t elements = 1;
    for (size_t d = work_.extents.size(); d-- > 0;) {
      const int64_t extent = work_.extents[d];
      int64_t along = 1;
      for (const int64_t threads : divisors_)
        if (threads <= std::min(left, PowerOfTwoFrom(extent)) &&
            left % threads == 0)
          along = threads;
      elements *= CeilDiv(extent, along);
      left /= along;
    }
    return elements * work_.terms;
  }

  void Consider() {
    const auto key = std::make_tuple(tile_.serial(work_), tile_.loads(work_),
                                     tile_.reduce_threads,
                                     StoreWaste(work_, tile_), -tile_.vector);
    if (best_ && !(key < best_key_)) return;
    best_ = tile_;
    best_key_ = key;
    most_serial_ = std::min(most_serial_, std::get<0>(key));
  }

  const ThreadWork& work_;
  const int64_t warp_size_;
  std::vector<int64_t> divisors_;      // of the threads, ascending
  std::vector<int64_t> before_ = {1};  // elements of so many dimensions
  int64_t most_serial_ = 0;            // there is something as good
  ThreadTile tile_;
  std::optional<ThreadTile> best_;
  std::tuple<int64_t, int64_t, int64_t, double, int64_t> best_key_;
};

}  // namespace

int64_t ThreadTile::elements_per_thread() const {
  int64_t product = 1;
  for (const int64_t e : elements) product *= e;
  return product;
}

int64_t ThreadTile::serial(const ThreadWork& work) const {
  return elements_per_thread() * CeilDiv(work.terms, reduce_threads);
}

int64_t ThreadTile::loads(const ThreadWork& work) const {
  int64_t sum = 0;
  for (const uint32_t dims : work.loads) {
    int64_t product = CeilDiv(work.terms, reduce_threads);
    for (size_t d = 0; d < elements.size(); ++d)
      if (dims >> d & 1) product *= elements[d];
    sum += product;
  }
  return sum;
}

std::vector<int64_t> FirstElement(const ThreadTile& tile,
                                  absl::Span<const int64_t> extents,
                                  int64_t thread) {
  std::vector<int64_t> at(extents.size(), 0);
  thread /= tile.reduce_threads;
  for (size_t d = extents.size(); d-- > 0;) {
    at[d] = thread % tile.threads[d];
    thread /= tile.threads[d];
    if (d + 1 == extents.size()) at[d] *= tile.vector;
    if (at[d] >= extents[d]) return {};
  }
  // More threads than the tile has room for.
  if (thread > 0) return {};
  return at;
}

ThreadTile BestThreadTile(const ThreadWork& work, int64_t threads,
                          int64_t warp_size) {
  return Search(work, warp_size).Run(threads);
}

}  // namespace tilewright
