// Small groups of every family, each with the generator that schedules it: what
// tests of all decisions at once draw from.
#ifndef TILEWRIGHT_SKETCH_TESTING_SAMPLE_GROUPS_H_
#define TILEWRIGHT_SKETCH_TESTING_SAMPLE_GROUPS_H_

#include <cstdint>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

struct SampleGroup {
  const char* source;  // one of kSampleSources
  Workload workload;
  DeviceSpec spec;  // of a CPU class, of one core, two, or as many as it has
  Generator generator;
  // Whether inputs are small integers, so that most results are exact.
  bool exact;
};

// Where groups come from; seeds take them in turn.
inline constexpr const char* kSampleSources[] = {
    "product",  "dot",    "window", "rows",          "move",         "map",
    "winograd", "stages", "fused",  "fused windows", "fused outputs"};

// Same seed, same group. Preferred answers are never refused, but for some
// fused groups: the tiles of "fused outputs" may overlap, and a stage that
// takes its steps in blocks may have tiles that do not divide its part.
SampleGroup DrawSampleGroup(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_SAMPLE_GROUPS_H_
