// A tuning session on the fake device: batches of candidates, then rank
// selection.
#ifndef TILEWRIGHT_MEASURE_SIMULATION_SIMULATE_TUNING_H_
#define TILEWRIGHT_MEASURE_SIMULATION_SIMULATE_TUNING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/fake/device/fake_program.h"
#include "measure/parallel/parallel_measurer.h"

namespace tilewright::measure {

struct TuningOptions {
  int trials = 500;
  int batch = 64;
  ParallelMeasurerOptions measurer;
  uint64_t seed = 1;
};

struct TuningResult {
  double time_s = 0;
  double chosen_ns = 0;   // true latency, alone, of what was named the best
  double best_ns = 0;     // the smallest true latency
  double executions = 0;  // of a candidate's value, on average
  std::vector<RoundReport> rounds;
};

// A way to measure, as the tables name it.
struct Contender {
  std::string name;
  ParallelMeasurerOptions options;
};
// Serial, naive and precise, with 60 repeats (design: measuring.md):
// `overlap_builds` for all of them, so that serial is a fair rival.
std::vector<Contender> Contenders(bool overlap_builds);
// The one of that name. REQUIRES: there is one.
ParallelMeasurerOptions ContenderNamed(const std::string& name,
                                       bool overlap_builds);

// Rank selection where values are not of the device alone.
absl::StatusOr<TuningResult> SimulateTuning(const fake::Setting& setting,
                                            const fake::FakeProgram& program,
                                            const TuningOptions& options);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_SIMULATION_SIMULATE_TUNING_H_
