// Ansor's derivation as a generator (sketch/rules/generator.h): its first
// decisions are which rule applies to which compute, "T.rule", from the last to
// the first; all that its sketches leave open follows (derivation.h).
#ifndef TILEWRIGHT_SKETCH_DERIVATION_SKETCH_GENERATOR_H_
#define TILEWRIGHT_SKETCH_DERIVATION_SKETCH_GENERATOR_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {

// "sketch". A user's own rules stand before others in `rules.rules`.
Generator SketchGenerator(SketchRules rules);

// One sketch: the rules of all computes.
struct Sketch {
  Answers rules;  // "T.rule" -> option
  // With preferred annotation; InvalidArgument says what the primitives cannot
  // express.
  absl::StatusOr<Schedule> schedule;
};

// All of them, in the order of the rules; those that are refused too.
std::vector<Sketch> EnumerateSketches(const SketchRules& rules,
                                      const Workload& workload,
                                      const DeviceSpec& spec);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_SKETCH_GENERATOR_H_
