#include "tilegraph/cost/rank_costs.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace tilewright {
namespace {

// Times of tiles that differ by this share are the same.
constexpr double kSameTime = 0.04;
// Bytes that an overlap counts as: worse than any that do not fit.
constexpr double kOverlaps = 1e15;

}  // namespace

TileRank Rank(const GroupCost& cost) {
  return cost.fits ? TileRank{0, cost.core_seconds}
                   : TileRank{1, static_cast<double>(cost.scratch_bytes) +
                                     (cost.covers ? 0 : kOverlaps)};
}

std::vector<GroupCost> BestOf(std::vector<GroupCost> few,
                              std::vector<GroupCost> others, bool fused,
                              size_t count) {
  // Among tiles whose times are too close to tell apart the one that moves less
  // wins: caches that others use too keep less than the estimate says.
  const GroupCost& fastest = *std::min_element(
      few.begin(), few.end(),
      [](const GroupCost& a, const GroupCost& b) { return Rank(a) < Rank(b); });
  const double same = fastest.core_seconds * (fused ? 1 + kSameTime : 1);
  const auto rank = [same](const GroupCost& cost) {
    const bool best = cost.fits && cost.core_seconds <= same;
    return std::tuple(!best, best ? FarBytes(cost) : 0, Rank(cost));
  };
  const auto better = [&](const GroupCost& a, const GroupCost& b) {
    return rank(a) < rank(b);
  };
  std::stable_sort(few.begin(), few.end(), better);
  std::stable_sort(others.begin(), others.end(), better);
  few.insert(few.end(), std::make_move_iterator(others.begin()),
             std::make_move_iterator(others.end()));
  // One that overflows is returned only if all do.
  size_t kept = 1;
  while (kept < few.size() && kept < count) ++kept;
  few.resize(kept);
  few.erase(std::remove_if(few.begin() + 1, few.end(),
                           [](const GroupCost& cost) { return !cost.fits; }),
            few.end());
  std::stable_sort(few.begin(), few.end(), better);
  return few;
}

}  // namespace tilewright
