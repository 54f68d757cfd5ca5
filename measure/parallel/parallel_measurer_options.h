// How candidates are measured in parallel, and how that differs from DOPpler's
// paper.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_PARALLEL_MEASURER_OPTIONS_H_
#define TILEWRIGHT_MEASURE_PARALLEL_PARALLEL_MEASURER_OPTIONS_H_

#include <cstdint>
#include <limits>

#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/adaptive_timeout.h"
#include "measure/parallel/calibrator.h"
#include "measure/parallel/react.h"
#include "measure/stats/latency_summary.h"

namespace tilewright::measure {

enum class MeasureMode : uint8_t {
  // One candidate after the other, from being prepared to being released.
  kSerial,
  // `naive_degree` at a time, their latency what the host's clock shows:
  // DOPpler's NPM.
  kNaive,
  // Rounds of as many candidates as REACT says, which are measured at the same
  // time while workers prepare the next ones; values calibrated.
  kPrecise,
};

struct ParallelMeasurerOptions {
  MeasureMode mode = MeasureMode::kPrecise;
  AdaptiveEvaluatorOptions repeats;
  // Candidates are measured as soon as they are built; else when all are.
  bool overlap_builds = true;
  int naive_degree = 16;
  AdaptiveTimeoutOptions timeout;
  // Devices of this host that measure at the same time, each with a measurer of
  // its own: G of DOPpler's equation 2. They share the host's cores, so that
  // progress may take longer.
  int devices = 1;
  // Executions of a candidate are split into so many visits, the later ones
  // once all of a round had one: what disturbs for longer than one, and is none
  // of ours, spoils a part of them.
  int visits = 1;
  Compared compared = Compared::kMedian;
  // A candidate that takes so many times as long as the fastest one of its
  // workload has one execution in one visit (adaptive_evaluator.h).
  double give_up_factor = std::numeric_limits<double>::infinity();
  uint64_t seed = 1;  // of the samples that are repeated

  // kPrecise.
  ReactOptions react;
  CalibratorOptions calibrator;
  // Workers prepare candidates while others are measured; else at most
  // degree() candidates are under way.
  bool prepare_ahead = true;
  // A repetition alone executes this share of what `repeats` says.
  double alone_share = 0.25;
  // A candidate that may be the best, were its value too large by the degree of
  // parallelism, is repeated.
  bool repeat_promising = true;
  // From calibrator.scaling_limit on all of a round is repeated.
  bool repeat_unscalable = true;
  // A candidate that nothing was measured beside belongs to its round like the
  // others: it may be repeated, and is scaled. Every round has a sample then,
  // also one of a single candidate. Else its value is final.
  bool calibrate_undisturbed = false;
  // A round with fewer candidates, or fewer at a time, than it might have had
  // (the end of a batch, slow builds) can raise the degree. Else it only lowers
  // it.
  bool partial_rounds_increase = false;
  // Where more than one is measured at a time, a round has at least so many
  // candidates: two say little about how much they disturb each other. Also the
  // size of a round where there are several visits.
  int smallest_round = 6;

  // Our defaults; backs off from degrees that were too much.
  ParallelMeasurerOptions();
  // DOPpler as its paper describes it: section 4, algorithms 1 and 2. Where the
  // paper is silent or contradicts itself:
  //
  // - Algorithm 2 increases d_p after each round, also after one that decreased
  //   it (lines 12 to 16), and so does this (react.increase_after_decrease).
  //   A d_p of 10 or less then never decreases, and a larger one not below 10,
  //   which sections 4.3 ("possibly d_p = 1") and 5.4 ("DP 1-3") contradict;
  //   the published code increases only after rounds that do not decrease.
  // - Algorithm 2 sets A to alpha in every round (line 11); section 4.3 says
  //   "initialized by", and so does this: else equation 6 had no memory.
  // - The first d_p: 1, as the code. alpha: max_dp (section 4.2), 64, or
  //   the number of workers if there are fewer.
  // - |x| in equation 6 and line 16: rounded down, never below 1, never more
  //   than there are workers.
  // - Equation 5 where delta >= 1 has no positive latency: not scaled.
  // - What was repeated has its repeated value (lines 8, 9 do not say).
  // - A round of which nothing succeeded has delta 0; one of which nothing
  //   could be compared decreases.
  // - Failed candidates (line 5) are repeated alone, not in parallel as in the
  //   code; those with wrong answers, which DOPpler does not look for, and what
  //   the pool repeated already are not.
  // - v_i is the duration divided by the number of executions.
  // - The z-score from which something is an outlier: 3, as the code. Where a
  //   MAD is 0, all that differs from the median on that side is one.
  // - phi: 0.03. The timeout is one without progress.
  static ParallelMeasurerOptions AsInPaper();
  // For cores that have little in common (own first and second level caches),
  // on a host that others use as well: as many at a time as there are cores, as
  // long as values can be scaled; visits, low values, and what resists a
  // repetition that was disturbed; executions for 0.15 s at most, and one of
  // what takes four times as long as the fastest: others here and on the host
  // together slow down a candidate less.
  static ParallelMeasurerOptions ForCores(int cores);
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_PARALLEL_MEASURER_OPTIONS_H_
