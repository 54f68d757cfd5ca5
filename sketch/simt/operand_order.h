// The order in which elements of an operand lie in scratch. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_OPERAND_ORDER_H_
#define TILEWRIGHT_SKETCH_SIMT_OPERAND_ORDER_H_

#include <optional>

#include "sketch/simt/thread_nest.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

// Elements side by side that a thread loads together.
inline constexpr int64_t kLoadedTogether = 4;

// The last dimension of which the buffer holds more than one element; -1: none.
int RowDim(const Buffer& buffer);

// Whether a thread of the reader finds neighbours within the buffer's rows:
// along its vectors, or along the terms of `terms`, a reduce axis of the
// reader's (-1: none) of which it takes several in a row, if neither its
// vectors cross the rows nor those are rows that it has side by side in whole
// vectors.
bool ReadsAlongRows(const Block& reader, const ThreadDivision& division,
                    const Buffer& buffer, int terms);

// The layout in which those elements lie side by side that a thread of the
// reader has along one of its axes, or whole vectors of them those of all
// threads: the axis of which it has most. nullopt: it has one at a time.
std::optional<Layout> ThreadOrder(const Block& reader,
                                  const ThreadDivision& division,
                                  const Buffer& buffer);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_OPERAND_ORDER_H_
