// A fused schedule put to the test, for tests.
#ifndef TILEWRIGHT_SKETCH_TESTING_CHECKED_STAGES_H_
#define TILEWRIGHT_SKETCH_TESTING_CHECKED_STAGES_H_

#include <string>

#include "backends/spec/device_spec.pb.h"
#include "sketch/testing/fused_workloads.h"

namespace tilewright::sketch {

// The text of the tree, once it was found to compute the right thing; empty,
// with a failed expectation, where there is none.
std::string CheckedStages(const FusedWorkload& fused, const DeviceSpec& spec);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_CHECKED_STAGES_H_
