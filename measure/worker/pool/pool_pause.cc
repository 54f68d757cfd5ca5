// Builders beside measurements.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "measure/worker/pool/pool_time.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::measure {

// Its limit of time stands still.
void ProcessPool::Pause(Worker& builder) {
  builder.process.Signal(SIGSTOP);
  builder.paused_with_ns = std::max<int64_t>(1, builder.deadline_ns - NowNs());
  builder.deadline_ns = kNever;
  ++stats_.builder_pauses;
}

void ProcessPool::Resume(Worker& builder) {
  const int64_t left_ns = std::exchange(builder.paused_with_ns, 0);
  if (!builder.process.running() || !builder.job) return;
  builder.deadline_ns = NowNs() + left_ns;
  builder.process.Signal(SIGCONT);
}

void ProcessPool::PauseBuilders() {
  if (options_.cores == 0) return;
  int64_t free =
      options_.cores - std::count_if(measurers_.begin(), measurers_.end(),
                                     [](const auto& worker) {
                                       return worker->job && worker->executing;
                                     });
  for (const auto& builder : builders_) {
    const bool works = builder->process.running() && builder->job;
    const bool may = !works || free-- > 0;
    if (may && builder->paused_with_ns > 0) Resume(*builder);
    if (!may && builder->paused_with_ns == 0) Pause(*builder);
  }
}

}  // namespace tilewright::measure
