// How long a candidate takes up to its features: decisions, replay, each kind.
#ifndef TILEWRIGHT_BENCH_COSTMODEL_FEATURE_TIMES_H_
#define TILEWRIGHT_BENCH_COSTMODEL_FEATURE_TIMES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "backends/spec/device_spec.pb.h"
#include "costmodel/cost_model.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

// CPU time of one thread, over all candidates.
struct FeatureTimes {
  int candidates = 0, refused = 0, blocks = 0;
  std::string first_refusal;
  double generate_ns = 0, replay_ns = 0, store_ns = 0, loop_ns = 0,
         curve_ns = 0, decision_ns = 0;

  void Refuse(const absl::Status& reason);
  void Add(const FeatureTimes& other);
  // One line: means by candidate, in microseconds.
  std::string ToString() const;
};

// Times of `draws` tables of the workload's first generator: half of them
// random, half the rule's with up to three changes. The rows of their stores
// are added to `candidates`.
FeatureTimes TimeFeatures(const sketch::Workload& workload,
                          const DeviceSpec& spec, int draws, uint64_t seed,
                          costmodel::CandidateFeatures& candidates);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COSTMODEL_FEATURE_TIMES_H_
