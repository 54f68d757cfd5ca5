#include "measure/worker/repeats.h"

#include <algorithm>

namespace tilewright::measure {

using Performance = AdaptiveEvaluatorOptions::Performance;

Repeats ToProto(const AdaptiveEvaluatorOptions& options) {
  Repeats proto;
  proto.set_max_repeats(options.max_repeats);
  proto.set_micro_batch(options.micro_batch);
  proto.set_min_micro_batches(options.min_micro_batches);
  proto.set_threshold(options.threshold);
  proto.set_per_micro_batch(options.performance == Performance::kMicroBatch);
  proto.set_adaptive_from_repeats(options.adaptive_from_repeats);
  proto.set_most_seconds(options.most_seconds);
  proto.set_min_repeats(options.min_repeats);
  proto.set_give_up_above_ns(options.give_up_above_ns);
  return proto;
}

AdaptiveEvaluatorOptions FromProto(const Repeats& proto) {
  AdaptiveEvaluatorOptions options;
  options.max_repeats = std::max(1, proto.max_repeats());
  options.micro_batch = std::max(1, proto.micro_batch());
  options.min_micro_batches = std::max(1, proto.min_micro_batches());
  options.threshold = proto.threshold();
  options.performance = proto.per_micro_batch() ? Performance::kMicroBatch
                                                : Performance::kCumulative;
  options.adaptive_from_repeats = proto.adaptive_from_repeats();
  options.most_seconds = proto.most_seconds();
  options.min_repeats = proto.min_repeats();
  options.give_up_above_ns = proto.give_up_above_ns();
  return options;
}

}  // namespace tilewright::measure
