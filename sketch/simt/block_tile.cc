#include "sketch/simt/block_tile.h"

#include <algorithm>
#include <cstddef>

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostThreadsByRule = 256;
constexpr int64_t kVector = 4;        // of 16 bytes, for f32
constexpr int64_t kMostElements = 8;  // of a thread along an axis of a product
constexpr int64_t kStep = 16;

int64_t PowerOfTwoUpTo(int64_t value) {
  int64_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

}  // namespace

BlockTile DefaultBlockTile(const std::vector<int64_t>& extents, int64_t terms) {
  BlockTile block;
  const size_t rank = extents.size();
  block.tile.assign(rank, 1);
  block.threads.assign(rank, 1);
  int64_t left = kMostThreadsByRule;
  for (size_t d = rank; d-- > 0;) {
    const bool last = d + 1 == rank;
    if (last && extents[d] % kVector == 0) block.vector = kVector;
    const int64_t vector = last ? block.vector : 1;
    // A square of threads over the last two axes of a product.
    const int64_t most = terms > 1 && last && rank > 1 ? 16 : left;
    block.threads[d] = std::min(
        most, PowerOfTwoUpTo(std::max<int64_t>(1, extents[d] / vector)));
    left /= block.threads[d];
    const bool several = terms > 1 && d + 2 >= rank;
    const int64_t elements = several ? kMostElements : vector;
    block.tile[d] =
        std::min(extents[d], block.threads[d] * std::max(elements, vector));
    if (left == 1) break;
  }
  if (terms > kStep) block.step = kStep;
  return block;
}

}  // namespace tilewright::sketch
