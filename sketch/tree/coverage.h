// Whether the loops around a block take every step once. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_TREE_COVERAGE_H_
#define TILEWRIGHT_SKETCH_TREE_COVERAGE_H_

#include <vector>

#include "sketch/tree/block_tree.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {

// Whether the bindings of the block's axes first .. first + count - 1, as the
// loops `loops` run, take every combination of values inside the axes' extents
// exactly once: kYes and kNo are proven, kUnknown is not.
enum class Coverage { kYes, kNo, kUnknown };
Coverage CoversOnce(const Block& block, size_t first, size_t count,
                    const std::vector<const Loop*>& loops,
                    const RangeOf& ranges);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_COVERAGE_H_
