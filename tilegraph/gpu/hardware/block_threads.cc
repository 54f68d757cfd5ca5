#include "tilegraph/gpu/hardware/block_threads.h"

#include <algorithm>
#include <cstdlib>

#include "tilegraph/gpu/hardware/occupancy.h"

namespace tilewright {

std::vector<BlockThreads> CommonBlockThreads(absl::Span<const BlockWork> works,
                                             const ComputeUnit& unit,
                                             double least_share) {
  const int64_t warp = unit.warp_size();
  std::vector<BlockThreads> sizes;
  double best = 0;
  for (int64_t threads = warp; threads <= unit.max_threads_per_block();
       threads += warp) {
    double work = 0, spent = 0;
    for (const BlockWork& of : works) {
      work += of.work;
      spent += of.work * ThreadQuantisation(of.pieces, threads, warp);
    }
    sizes.push_back({threads, work / spent});
    best = std::max(best, sizes.back().efficiency);
  }
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(),
                             [&](const BlockThreads& size) {
                               return size.efficiency < least_share * best;
                             }),
              sizes.end());
  const int64_t wanted = std::max<int64_t>(1, unit.schedulers_per_core());
  std::stable_sort(sizes.begin(), sizes.end(),
                   [&](const BlockThreads& a, const BlockThreads& b) {
                     return std::make_pair(std::abs(a.threads / warp - wanted),
                                           -a.efficiency) <
                            std::make_pair(std::abs(b.threads / warp - wanted),
                                           -b.efficiency);
                   });
  return sizes;
}

}  // namespace tilewright
