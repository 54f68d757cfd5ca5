// How much faster a workload's kernel becomes by tables of decisions other than
// the rule's: drawn, verified and measured, and the best ones measured again
// beside the rule's, so that what is reported is no luck of the draw.
//
//   drawn     random and mutated tables; a kernel that others gave is left out
//   screened  every kernel alone, verified before its time counts
//   finals    the fastest of each source interleaved with the rule's kernel
//   pruned    of the better winner: each decision that the rule makes otherwise
//             is given back to the rule if that costs next to nothing
//   compared  rule, winners and pruned table interleaved, in new processes
//   (their
//             arguments lie in other physical pages); only this is reported
#ifndef TILEWRIGHT_BENCH_DECISIONS_HEADROOM_H_
#define TILEWRIGHT_BENCH_DECISIONS_HEADROOM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/decisions/drawn_tables.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/measurer.h"
#include "sketch/trace/schedule.h"

namespace tilewright::bench {

struct HeadroomOptions {
  int draws = 200;  // of each source
  uint64_t seed = 1;
  int finalists = 4;  // of each source
  int turns = 7;      // of the finals and of each comparison
  int processes = 3;  // of the comparison, one after the other
  // A decision is given back to the rule if the kernel keeps this share of its
  // speed.
  double keeps_speed = 0.99;
  measure::AdaptiveEvaluatorOptions screening, comparing;
};

// A measurer that begins in new processes.
using NewMeasurer =
    std::function<absl::StatusOr<std::unique_ptr<measure::Measurer>>(
        const measure::AdaptiveEvaluatorOptions& repeats)>;

// Time of the rule's kernel over that of another: above 1, the other is faster.
// Medians over the turns of each process: the median of these, the least and
// the greatest.
struct Speedup {
  double median = 0, least = 0, most = 0;
};
// REQUIRES: not empty.
Speedup SpeedupOf(std::vector<double> medians);

// The headroom by one source of schedules.
struct SourceHeadroom {
  int drawn = 0, refused = 0, equal = 0;
  int wrong = 0;   // wrong answers
  int failed = 0;  // not built, crashed or too slow to be measured
  std::vector<std::string> faults;  // of wrong and failed ones: a line each
  std::optional<sketch::Schedule> best;
  std::optional<Speedup> speedup;  // of `best`, if there is one
};

struct Headroom {
  double rule_us = 0;  // median of the comparison, one thread
  Speedup again;       // the rule's kernel measured twice: the noise
  SourceHeadroom random, mutated;
  // The better one of both, without what does not matter.
  sketch::Schedule rule;
  std::optional<sketch::Schedule> pruned;
  std::optional<Speedup> pruned_speedup;
};

// An error if the rule's kernel cannot be measured, or nothing can.
absl::StatusOr<Headroom> FindHeadroom(const Searched& searched,
                                      const HeadroomOptions& options,
                                      const NewMeasurer& new_measurer);

// "tile: vectors 2, rows 8 -> vectors 4, rows 6; order: ... -> ...": what
// `other` decides otherwise than `rule`; "-" stands for what is not asked.
std::string DifferenceOf(const sketch::Schedule& rule,
                         const sketch::Schedule& other);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_HEADROOM_H_
