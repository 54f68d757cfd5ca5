// A search replayed on a table, and what many of them reach how soon.
#ifndef TILEWRIGHT_BENCH_SEARCH_REPLAYED_SEARCH_H_
#define TILEWRIGHT_BENCH_SEARCH_REPLAYED_SEARCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/search/scheme.h"
#include "bench/search/search_table.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {

// After each trial: when it was over, and what the candidate that was seen to
// be the fastest so far really takes; infinity before one works.
struct CurvePoint {
  double seconds;
  double ns;
};
using Curve = std::vector<CurvePoint>;

struct ReplayOptions {
  int trials = 192;
  int batch = 32;             // AdaTune's
  double most_seconds = 0.5;  // of executing one candidate
  // Measured first, beside what a seeded scheme prefers (NearestTo).
  std::vector<Answers> starts = {};
};

// Time is what the table recorded of builds, verification and executions; what
// candidates took to be made when it was recorded, for every run of the space;
// and the CPU time by `cpu` of all else that the search does. Equal seeds
// propose and see the same whatever `cpu` shows.
absl::StatusOr<Curve> Replay(const SearchTable& table, const Scheme& scheme,
                             uint64_t seed, const ReplayOptions& options,
                             Clock& cpu);

// The median over curves of what was reached after so many trials.
double MedianAfter(absl::Span<const Curve> curves, int trials);
// The first trial after which the median is `ns` or less; infinity: never.
double TrialsTo(absl::Span<const Curve> curves, double ns);
// The same in seconds.
double SecondsTo(absl::Span<const Curve> curves, double ns);

struct Interval {
  double value, low, high;
};
// How many times sooner `curves` reach the baseline's final median than the
// baseline does, with the 95 % interval of a bootstrap over the runs of both. 0
// where they never do.
Interval TimesSooner(absl::Span<const Curve> baseline,
                     absl::Span<const Curve> curves, Random& random);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_REPLAYED_SEARCH_H_
