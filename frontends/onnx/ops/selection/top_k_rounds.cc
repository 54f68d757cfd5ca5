#include "frontends/onnx/ops/selection/top_k_rounds.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

// What a round takes beside its comparisons, in comparisons of one row: its
// launches, and the elements that it gathers.
constexpr int64_t kRoundCost = 1 << 16;
// Blocks are whole vectors.
constexpr int64_t kLeastBlock = 32;

int64_t CostOf(const std::vector<TopKRound>& rounds, int64_t count) {
  return Comparisons(rounds, count) +
         static_cast<int64_t>(rounds.size()) * kRoundCost;
}

}  // namespace

int64_t Comparisons(const std::vector<TopKRound>& rounds, int64_t count) {
  int64_t sum = 0;
  for (const TopKRound& round : rounds) sum += round.Comparisons(count);
  return sum;
}

std::vector<TopKRound> TopKRounds(int64_t extent, int64_t count) {
  std::vector<TopKRound> best = {{extent, extent}};
  // A round that leaves more than half of the elements is none.
  for (int64_t block = kLeastBlock; block < extent; block *= 2) {
    if (block < 2 * count) continue;
    const TopKRound first = {extent, block};
    std::vector<TopKRound> rounds = TopKRounds(first.blocks() * count, count);
    rounds.insert(rounds.begin(), first);
    if (CostOf(rounds, count) < CostOf(best, count)) best = std::move(rounds);
  }
  return best;
}

}  // namespace tilewright
