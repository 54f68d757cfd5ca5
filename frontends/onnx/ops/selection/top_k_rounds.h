// How a row is searched for its first elements. To compare each with each costs
// n comparisons for each of n; the first of every block of a row are found for
// less, and only they go on to the next round.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_ROUNDS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_ROUNDS_H_

#include <cstdint>
#include <vector>

namespace tilewright {

// Every block of so many elements (the last one has fewer) is sorted by itself
// and keeps its first `count`.
struct TopKRound {
  int64_t extent = 0;  // elements that come in
  int64_t block = 0;

  int64_t blocks() const { return (extent + block - 1) / block; }
  // Of elements with each other, and of their ranks with the places.
  int64_t Comparisons(int64_t count) const {
    return blocks() * block * (block + count);
  }
};

// The rounds that need the fewest comparisons; the last one has one block.
// REQUIRES: 0 < count <= extent < 2^31.
std::vector<TopKRound> TopKRounds(int64_t extent, int64_t count);
int64_t Comparisons(const std::vector<TopKRound>& rounds, int64_t count);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_ROUNDS_H_
