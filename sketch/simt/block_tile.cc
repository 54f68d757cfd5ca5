#include "sketch/simt/block_tile.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sketch/tree/thread_loops.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostThreadsByRule = 256;
constexpr int64_t kVector = 4;        // of 16 bytes, for f32
constexpr int64_t kMostElements = 8;  // of a thread along an axis of a product
constexpr int64_t kStep = 16;
constexpr int64_t kMostSlices = 32;
constexpr int64_t kMostRows = 8;

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

absl::StatusOr<BlockTile> DecideBlockTile(const std::vector<std::string>& axes,
                                          const std::vector<int64_t>& shape,
                                          int64_t terms,
                                          const BlockTile& preferred,
                                          Decider& decider) {
  if (preferred.tile.size() != shape.size())
    return absl::InvalidArgumentError("it was planned for another output");
  BlockTile decided;
  for (size_t d = 0; d < shape.size(); ++d) {
    decided.tile.push_back(decider.DecideNumber(
        absl::StrCat("block.tile.", axes[d]), Space::Integers(1, shape[d]),
        [&] { return std::min(preferred.tile[d], shape[d]); }));
    decided.threads.push_back(
        decider.DecideNumber(absl::StrCat("block.threads.", axes[d]),
                             Space::Integers(1, kMostThreads),
                             [&] { return preferred.threads[d]; }));
  }
  decided.vector = decider.DecideNumber("block.vector", Space::Integers(1, 16),
                                        [&] { return preferred.vector; });
  decided.lanes = decider.DecideNumber(
      "block.lanes", Space::Integers(1, kWarpLanes),
      [&] { return preferred.lanes; }, Bits::kMayChange);
  if (terms > 1 && shape.size() > 1)
    decided.rows =
        decider.DecideNumber("block.rows", Space::Integers(1, kMostRows),
                             [&] { return preferred.rows; });
  if (terms > 1) {
    decided.step =
        decider.DecideNumber("block.step", Space::Integers(0, terms),
                             [&] { return std::min(preferred.step, terms); });
    decided.slices = decider.DecideNumber(
        "block.slices", Space::Integers(1, kMostSlices),
        [&] { return preferred.slices; }, Bits::kMayChange);
    decided.stages = decider.DecideNumber("block.stages", Space::Integers(1, 4),
                                          [&] { return preferred.stages; });
    if (decided.stages > 1) {
      decided.async =
          decider.DecideNumber("block.async", Space::Integers(0, 1),
                               [&] { return preferred.async ? 1 : 0; }) == 1;
    }
    decided.swizzle =
        decider.DecideNumber("block.swizzle", Space::Integers(1, 8),
                             [&] { return preferred.swizzle; });
  }
  const int64_t threads = decided.num_threads();
  if (threads > kMostThreads)
    return absl::InvalidArgumentError(
        absl::StrCat(threads, " threads of a block"));
  return decided;
}

}  // namespace tilewright::sketch
