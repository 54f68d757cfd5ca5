#include "measure/parallel/adaptive_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "measure/stats/coefficient_of_variation.h"

namespace tilewright::measure {
namespace {

using Performance = AdaptiveEvaluatorOptions::Performance;

// Without one smallest and one largest value, if there are more than `keep`.
std::vector<double> Trimmed(std::vector<double> values, size_t keep) {
  if (values.size() <= keep) return values;
  std::sort(values.begin(), values.end());
  return {values.begin() + 1, values.end() - 1};
}

double Sum(absl::Span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

AdaptiveEvaluatorOptions AdaptiveEvaluatorOptions::Fixed(int repeats) {
  AdaptiveEvaluatorOptions options;
  options.max_repeats = repeats;
  options.adaptive_from_repeats = std::numeric_limits<int>::max();
  return options;
}

AdaptiveEvaluatorOptions AdaptiveEvaluatorOptions::AsInPaper() {
  AdaptiveEvaluatorOptions options;
  options.max_repeats = 500;
  options.micro_batch = 50;
  options.min_micro_batches = 3;
  options.threshold = 0.1;
  return options;
}

AdaptiveEvaluatorOptions AdaptiveEvaluatorOptions::AsPublished() {
  AdaptiveEvaluatorOptions options = AsInPaper();
  options.performance = Performance::kMicroBatch;
  options.adaptive_from_repeats = 300;
  return options;
}

AdaptiveEvaluatorOptions AdaptiveEvaluatorOptions::Share(double share) const {
  const auto part = [share](int n) {
    return std::max(1, static_cast<int>(std::lround(n * share)));
  };
  AdaptiveEvaluatorOptions options = *this;
  options.max_repeats = part(max_repeats);
  options.micro_batch = part(micro_batch);
  options.most_seconds *= share;
  return options;
}

AdaptiveEvaluator::AdaptiveEvaluator(const AdaptiveEvaluatorOptions& options,
                                     Clock* clock)
    : options_(options),
      clock_(clock),
      start_ns_(clock->WallNs()),
      next_repeats_(std::min(options.max_repeats, options.micro_batch)),
      variation_(std::numeric_limits<double>::quiet_NaN()) {
  TW_CHECK_GT(options.max_repeats, 0);
  TW_CHECK_GT(options.micro_batch, 0);
  TW_CHECK_GT(options.min_micro_batches, 0);
}

bool AdaptiveEvaluator::IsLate() const {
  return static_cast<double>(clock_->WallNs() - start_ns_) * 1e-9 >=
         options_.most_seconds;
}

bool AdaptiveEvaluator::IsTimeOver(int executed) const {
  return static_cast<int>(latencies_ns_.size()) + executed >=
             options_.min_repeats &&
         IsLate();
}

bool AdaptiveEvaluator::IsTooSlow(absl::Span<const double> latencies_ns) const {
  const auto too_slow = [this](double ns) {
    return ns > options_.give_up_above_ns;
  };
  return std::all_of(latencies_ns_.begin(), latencies_ns_.end(), too_slow) &&
         std::all_of(latencies_ns.begin(), latencies_ns.end(), too_slow);
}

absl::Status AdaptiveEvaluator::Add(absl::Span<const double> latencies_ns) {
  const size_t due = static_cast<size_t>(next_repeats_);
  const bool some = !latencies_ns.empty() && latencies_ns.size() < due;
  if (latencies_ns.size() != due &&
      !(some && (IsLate() || IsTooSlow(latencies_ns)))) {
    return absl::InvalidArgumentError(
        absl::StrCat("a micro-batch of ", next_repeats_,
                     " latencies was due, and ", latencies_ns.size(), " came"));
  }
  for (const double latency : latencies_ns) {
    if (!std::isfinite(latency) || latency < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a latency is ", latency,
          " ns: the timer must give finite numbers that are not negative"));
    }
  }
  const double batch_ns = Sum(latencies_ns);
  const double size = static_cast<double>(latencies_ns.size());
  elapsed_ns_ += batch_ns;
  latencies_ns_.insert(latencies_ns_.end(), latencies_ns.begin(),
                       latencies_ns.end());
  batch_means_ns_.push_back(batch_ns / size);
  performance_.push_back(options_.performance == Performance::kCumulative
                             ? static_cast<double>(latencies_ns_.size()) /
                                   elapsed_ns_
                             : size / batch_ns);
  Decide();
  return absl::OkStatus();
}

void AdaptiveEvaluator::Decide() {
  variation_ =
      CoefficientOfVariation(options_.performance == Performance::kCumulative
                                 ? performance_
                                 : Trimmed(performance_, /*keep=*/4));
  next_repeats_ =
      std::min(options_.max_repeats - static_cast<int>(latencies_ns_.size()),
               options_.micro_batch);
  if (next_repeats_ > 0 &&
      options_.max_repeats >= options_.adaptive_from_repeats &&
      performance_.size() >= static_cast<size_t>(options_.min_micro_batches) &&
      variation_ < options_.threshold) {
    stopped_early_ = true;
    next_repeats_ = 0;
  }
  if (next_repeats_ > 0 && (IsTimeOver(0) || IsTooSlow({}))) {
    stopped_early_ = true;
    next_repeats_ = 0;
  }
}

double AdaptiveEvaluator::latency_ns() const {
  TW_CHECK(!latencies_ns_.empty());
  if (options_.performance == Performance::kCumulative) {
    return elapsed_ns_ / static_cast<double>(latencies_ns_.size());
  }
  const std::vector<double> means = Trimmed(batch_means_ns_, /*keep=*/2);
  return Sum(means) / static_cast<double>(means.size());
}

}  // namespace tilewright::measure
