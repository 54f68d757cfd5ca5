// Row groups for tests of the schedules that are made for them.
#ifndef TILEWRIGHT_SKETCH_TESTING_ROW_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_ROW_WORKLOADS_H_

#include <cstdint>

#include "sketch/trace/workload.h"

namespace tilewright::sketch {

enum class RowFamily : uint8_t {
  kSoftmax,  // scaled, with a mask added first
  kLogSoftmax,
  kLayerNorm,     // with scale and shift
  kChannelNorm,   // over dimension 1 of images: rows are neighbours in memory
  kInstanceNorm,  // over the pixels of images
  kReduceAll,     // one row
  kReduceAlone,
  kArgMax,
  kHalf,  // f16 summed in f32
};
inline constexpr int kRowFamilies = 9;

// `rows` and `elements` are the extents of one dimension each; images and
// batches have small ones beside them.
Workload MakeRows(RowFamily family, int64_t rows, int64_t elements);

// Any family, with extents that fill vectors or do not; images plain or with
// blocked channels. Same seed, same workload.
Workload DrawRows(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_ROW_WORKLOADS_H_
