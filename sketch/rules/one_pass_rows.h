// Row groups whose second reduction can follow the first (rolling_update): a
// norm's variance follows its mean. Both are taken in one pass, block by block,
// so a row that is longer than a private cache comes in from memory once for
// them, not twice. Internal to sketch. They decide
//
//   passes               "two", which is preferred, or "one"
//   passes.block         of one: steps of a block, along the outermost axis of
//                        a row
//   reduce.partials, elementwise.vectors   as in row_decisions.h
#ifndef TILEWRIGHT_SKETCH_RULES_ONE_PASS_ROWS_H_
#define TILEWRIGHT_SKETCH_RULES_ONE_PASS_ROWS_H_

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/row_blocks.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Decides how many passes a group of that kind takes: two sums, one of them
// rescaled when the other grows, values of a row, and an elementwise block over
// rows in the end. False, and nothing written, if it takes two, is of another
// kind or a stage.
bool WriteOnePassRows(const Workload& workload, const DeviceSpec& spec,
                      const RowBlocks& blocks, const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_ONE_PASS_ROWS_H_
