// How often one candidate is executed: AdaTune's adaptive evaluator (section
// 4.1). The executions come in micro-batches; it stops when the coefficient of
// variation (CV) of the performance falls below a threshold, or when the time
// is over.
//
//   AdaptiveEvaluator evaluator(options, clock);
//   while (int repeats = evaluator.NextRepeats()) {
//     TW_RETURN_IF_ERROR(evaluator.Add(Execute(repeats)));  // each one's ns
//   }
//
// Where a micro-batch may take long, whoever executes asks IsTimeOver within
// it.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_ADAPTIVE_EVALUATOR_H_
#define TILEWRIGHT_MEASURE_PARALLEL_ADAPTIVE_EVALUATOR_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/clock.h"

namespace tilewright::measure {

struct AdaptiveEvaluatorOptions {
  enum class Performance : uint8_t {
    // The paper: Perf_i = i GFLOP / Time(i), Time(i) the time of the first i
    // micro-batches together. The FLOPs cancel in the CV.
    kCumulative,
    // The code: each micro-batch alone; with more than four, the CV leaves out
    // the best and the worst, and so does, with more than two, latency_ns().
    kMicroBatch,
  };

  // With AdaTune's B = 50 and 10 % nearly every candidate stops at the floor of
  // 150 executions, so that a fixed number would do the same; with these some
  // go on (docs/results/parallel_measuring.md).
  int max_repeats = 500;      // n
  int micro_batch = 10;       // B; the last one may be smaller
  int min_micro_batches = 3;  // the floor
  double threshold = 0.03;
  Performance performance = Performance::kCumulative;
  // With a smaller max_repeats nothing stops early.
  int adaptive_from_repeats = 0;
  // Wall time, with all that lies between executions. Once it is over none
  // begins, but there are at least min_repeats.
  double most_seconds = std::numeric_limits<double>::infinity();
  int min_repeats = 3;
  // A candidate all of whose executions took longer is given up, after one
  // already: it is not the fastest, and one says how slow it is.
  double give_up_above_ns = std::numeric_limits<double>::infinity();

  // Always `repeats` executions.
  static AdaptiveEvaluatorOptions Fixed(int repeats);
  // As AdaTune's paper has it (sections 4.1 and 5): n = 500, B = 50, 10 %. It
  // names no smallest number of micro-batches, and one alone has a CV of 0:
  // three, as its code.
  static AdaptiveEvaluatorOptions AsInPaper();
  // As AdaTune's published code does it.
  static AdaptiveEvaluatorOptions AsPublished();

  // With that share of the executions, a micro-batch's too, and of the time.
  AdaptiveEvaluatorOptions Share(double share) const;
};

class AdaptiveEvaluator {
 public:
  // Its time begins now. REQUIRES: max_repeats, micro_batch and
  // min_micro_batches are positive; `clock` outlives it.
  explicit AdaptiveEvaluator(const AdaptiveEvaluatorOptions& options,
                             Clock* clock = RealClock());

  // The size of the micro-batch to execute now; 0 when there is nothing left
  // to learn.
  int NextRepeats() const { return next_repeats_; }
  // Whether the micro-batch that is being executed ends now, with so many
  // executions.
  bool IsTimeOver(int executed) const;
  // Whether all so far, and `latencies_ns`, are above give_up_above_ns.
  bool IsTooSlow(absl::Span<const double> latencies_ns) const;
  // The latencies of that micro-batch. InvalidArgument if they are not
  // NextRepeats() many (fewer, but some, once the time is over or if it is too
  // slow), or one is negative or not finite; nothing is added then.
  absl::Status Add(absl::Span<const double> latencies_ns);

  // The coefficient of variation of the performance so far. NaN before the
  // first micro-batch, and while the clock is too coarse to see one: nothing
  // stops early then.
  double variation() const { return variation_; }
  // Before max_repeats.
  bool stopped_early() const { return stopped_early_; }
  // The mean latency. REQUIRES: a micro-batch was added.
  double latency_ns() const;
  // All of them, in order.
  const std::vector<double>& latencies_ns() const { return latencies_ns_; }

 private:
  void Decide();
  bool IsLate() const;

  AdaptiveEvaluatorOptions options_;
  Clock* clock_;
  int64_t start_ns_;
  int next_repeats_;
  double elapsed_ns_ = 0;
  std::vector<double> latencies_ns_;
  std::vector<double> performance_;     // executions per ns
  std::vector<double> batch_means_ns_;  // by micro-batch
  double variation_;
  bool stopped_early_ = false;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_ADAPTIVE_EVALUATOR_H_
