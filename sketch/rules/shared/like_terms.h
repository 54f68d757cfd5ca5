// Sums whose terms may be alike, as a plain surface in an image is: their
// additions round to the same side all along. With K terms in one accumulator
// the error grows as K, in blocks as the length of one and their number
// (Higham, "Accuracy and Stability of Numerical Algorithms", 4.2). Internal to
// sketch.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_LIKE_TERMS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_LIKE_TERMS_H_

#include <cmath>
#include <cstdint>

namespace tilewright::sketch {

// What one accumulator takes: half of its roundings are within the 4 (√K + 8)
// that a kernel may err by (docs/verifying.md).
inline constexpr int64_t kMostLikeTerms = 160;

// Of a block of a longer sum: as many as there are blocks.
inline double LikeTermsOfABlock(int64_t terms) {
  return std::sqrt(static_cast<double>(terms));
}

// The fewest blocks of a sum of so many terms in `accumulators` with which it
// errs by no more than a kernel may, should all roundings go to one side: those
// of a block's terms in one of them, then those of the blocks.
inline int64_t FewestBlocks(int64_t terms, int64_t accumulators) {
  const double most = 4 * (std::sqrt(static_cast<double>(terms)) + 8);
  const double in_one =
      static_cast<double>(terms) / static_cast<double>(accumulators);
  int64_t blocks = 1;
  while (in_one / static_cast<double>(blocks) + static_cast<double>(blocks) >
         most)
    ++blocks;
  return blocks;
}

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_LIKE_TERMS_H_
