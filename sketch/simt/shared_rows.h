// Where the rows of an operand's part lie in scratch. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_SHARED_ROWS_H_
#define TILEWRIGHT_SKETCH_SIMT_SHARED_ROWS_H_

#include <cstdint>
#include <string>

#include "sketch/replay/growing_trace.h"

namespace tilewright::sketch {

// Leaves so many elements free behind each row of what the block stores.
void PadRows(GrowingTrace& trace, const std::string& block, int64_t padding);

// Exchanges chunks of 16 bytes within the rows of what the block stores, among
// the greatest power of two up to `steps` that rows have, from one turn of the
// banks (128 bytes) to the next. Nothing where rows have no two such chunks.
void SwizzleRows(GrowingTrace& trace, const std::string& block, int64_t steps);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_SHARED_ROWS_H_
