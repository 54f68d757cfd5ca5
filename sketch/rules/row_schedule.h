// Row reductions: softmax, norms, and plain reductions.
//
// Tasks run over rows. A row, or a few short ones at a time, goes through every
// compute of the group in order: statistics in several vectors of partial
// results that are added up once per row, values of a row in registers; of
// elementwise computes that are read more than once some are kept in a buffer
// of the row, the others computed anew. Where rows, not their elements, lie
// side by side in memory, a lane is a row. The decisions stand in row_blocks.h,
// one_pass_rows.h and row_decisions.h.
#ifndef TILEWRIGHT_SKETCH_RULES_ROW_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_ROW_SCHEDULE_H_

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Whether the workload is a row group with one output.
bool IsRowGroup(const Workload& workload);

// False, and nothing written, if the workload is no row group with one output.
bool WriteRows(const Workload& workload, const DeviceSpec& spec,
               const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_ROW_SCHEDULE_H_
