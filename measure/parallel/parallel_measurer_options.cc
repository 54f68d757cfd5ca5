#include "measure/parallel/parallel_measurer_options.h"

#include <limits>

namespace tilewright::measure {

ParallelMeasurerOptions::ParallelMeasurerOptions() {
  react.backoff_rounds = 32;
  react.decrease_by_delta = true;
  calibrator.signed_delta = true;
  calibrator.smallest_sample = 2;
}

ParallelMeasurerOptions ParallelMeasurerOptions::AsInPaper() {
  ParallelMeasurerOptions options;
  options.overlap_builds = false;
  options.compared = Compared::kMean;
  options.react.backoff_rounds = 0;
  options.react.decrease_by_delta = false;
  options.react.increase_after_decrease = true;
  options.calibrator.signed_delta = false;
  options.calibrator.smallest_sample = 1;
  options.calibrator.scaling_limit = std::numeric_limits<double>::infinity();
  options.prepare_ahead = false;
  options.alone_share = 1;
  options.repeat_promising = false;
  options.repeat_unscalable = false;
  options.calibrate_undisturbed = true;
  options.partial_rounds_increase = true;
  options.smallest_round = 1;
  return options;
}

ParallelMeasurerOptions ParallelMeasurerOptions::ForCores(int cores) {
  ParallelMeasurerOptions options;
  options.react.initial_degree = cores;
  options.react.max_degree = options.react.initial_max = cores;
  options.react.tau = options.calibrator.scaling_limit;
  options.repeats.most_seconds = 0.15;
  options.give_up_factor = 4;
  options.smallest_round = 8 * cores;
  options.visits = 2;
  options.compared = Compared::kLow;
  options.calibrator.median_delta = true;
  options.calibrator.keep_faster = true;
  return options;
}

}  // namespace tilewright::measure
