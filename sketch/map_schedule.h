// The default schedule of groups that only map: every compute but the last is
// inlined, tasks and vector tiles over the output.
#ifndef TILEWRIGHT_SKETCH_MAP_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_MAP_SCHEDULE_H_

#include "backends/spec/device_spec.pb.h"
#include "sketch/group_chain.h"
#include "sketch/place.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// REQUIRES: `chain` is that of the workload's graph and has no reduction.
void WriteMap(const Workload& workload, const DeviceSpec& spec,
              const Chain& chain, const Place& place);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_MAP_SCHEDULE_H_
