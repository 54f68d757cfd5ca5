// Row groups whose rows are longer than a private cache, and whose second
// reduction follows the first (rolling_update): a norm's variance follows its
// mean. Both are taken in one pass, block by block, so a row comes in from
// memory once for them, not twice.
#ifndef TILEWRIGHT_SKETCH_ONE_PASS_ROWS_H_
#define TILEWRIGHT_SKETCH_ONE_PASS_ROWS_H_

#include <cstdint>
#include <optional>

#include "backends/spec/device_spec.pb.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// nullopt if the group is not of that kind: two sums, one of them repaired
// when the other grows, values of a row, and a map over rows in the end; or if
// no part of a row has at most `block_elements`.
std::optional<Schedule> OnePassRowSchedule(const Workload& workload,
                                           const DeviceSpec& spec,
                                           int64_t block_elements);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_ONE_PASS_ROWS_H_
