// DOPpler's calibrator (section 4.3, algorithm 2) tells what a round of
// parallel measurements is worth. Pure functions over one round on one device;
// who measures is not its concern:
//
//   candidates <- ChooseRemeasured(round)            which to repeat   (eq. 3)
//   remeasured <- those, each alone on the device
//   delta      <- RoundDelta(round, remeasured)      how far off       (eq. 4)
//   Calibrate(round, remeasured, delta)              corrected values  (eq. 5)
//
// Failed candidates are no part of a round: they are repeated alone before, and
// those that then succeed are the failures that React::Update takes.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_CALIBRATOR_H_
#define TILEWRIGHT_MEASURE_PARALLEL_CALIBRATOR_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"

namespace tilewright::measure {

struct CalibratorOptions {
  double sample_share = 0.2;  // zeta
  // So many are repeated at least, where there are as many: a single one may
  // have had the device for itself. The paper: 1.
  int smallest_sample = 1;
  double outlier_threshold = 3;
  // Values are scaled only below this delta: above, the mean says too little
  // about one of them. DOPpler's published code has this limit, its paper none:
  // infinity.
  double scaling_limit = 0.25;
  // RoundDelta needs as many.
  int min_remeasured = 1;
  // Equation 4 without its absolute values, nor below 0: what others do to a
  // candidate makes it slower, and noise, which goes both ways, is not taken
  // for it.
  bool signed_delta = false;
  // The median instead of the mean of equation 4: one that was disturbed by
  // something else does not move it.
  bool median_delta = false;
  // A repeated value replaces the parallel one only if it is smaller.
  bool keep_faster = false;

  // As DOPpler's published code does it: min_remeasured 2, keep_faster.
  static CalibratorOptions AsPublished();
};

// One candidate, measured while others were.
struct ParallelMeasurement {
  double latency_ns = 0;   // l_i
  double duration_ns = 0;  // v_i: of all its executions, with what lies between
};

// The same candidate repeated alone. A latency that is not finite and positive
// (it failed this time) counts for nothing.
struct Remeasurement {
  int index = 0;  // in the round
  double latency_ns = 0;
};

// Equation 3: the outliers of l_i / v_i (double MAD, modified z-scores) and
// those of `also` (which the paper does not have); if they are fewer than
// max(ceil(zeta n), smallest_sample), others drawn at random. Indices,
// ascending.
std::vector<int> ChooseRemeasured(absl::Span<const ParallelMeasurement> round,
                                  const CalibratorOptions& options,
                                  Random& random,
                                  absl::Span<const int> also = {});

// Equation 4: the mean (or with median_delta the median) of
// |alone - parallel| / parallel; none if fewer than min_remeasured can be
// compared.
std::optional<double> RoundDelta(absl::Span<const ParallelMeasurement> round,
                                 absl::Span<const Remeasurement> remeasured,
                                 const CalibratorOptions& options);

struct CalibratedLatency {
  double latency_ns = 0;
  bool remeasured = false;  // measured alone
  double scale = 1;         // what the parallel value was multiplied with
};

// Equation 5, by index: l_i / v_i (v_i - v_i delta) = l_i (1 - delta) while
// delta < scaling_limit, l_i otherwise and without a delta; what was repeated
// has its repeated value. From delta 1 on equation 5 has no positive latency:
// l_i there, whatever the limit.
std::vector<CalibratedLatency> Calibrate(
    absl::Span<const ParallelMeasurement> round,
    absl::Span<const Remeasurement> remeasured, std::optional<double> delta,
    const CalibratorOptions& options);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_CALIBRATOR_H_
