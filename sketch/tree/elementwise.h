// Whether a block reads another's results where it stands itself. Internal to
// sketch.
#ifndef TILEWRIGHT_SKETCH_TREE_ELEMENTWISE_H_
#define TILEWRIGHT_SKETCH_TREE_ELEMENTWISE_H_

#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Whether the spatial axes of both have the same extents, and every load of
// `buffer` in `consumer` has them as its indices, in order.
bool IsElementwiseIn(const Block& consumer, const Block& producer, int buffer);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_ELEMENTWISE_H_
