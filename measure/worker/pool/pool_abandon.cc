// Abandons tasks whose results nobody wants any more.
#include <utility>

#include "measure/worker/pool/pool_time.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::measure {
namespace {

// The candidate of a build that goes on for the cache alone.
constexpr int kNobody = -1;

const PoolFailure kAbandoned = {Measurement::NOT_MEASURED,
                                Measurement::FAULT_UNSPECIFIED,
                                "it was abandoned", 0, false};

}  // namespace

void ProcessPool::AbandonQueued(std::deque<Job>& queue, int candidate) {
  for (auto it = queue.begin(); it != queue.end();) {
    if (it->candidate != candidate) {
      ++it;
      continue;
    }
    const Job job = std::move(*it);
    it = queue.erase(it);
    Emit(FailedEvent(job, kAbandoned));
  }
}

void ProcessPool::AbandonMeasurer(Worker& worker, int candidate) {
  AbandonQueued(worker.queue, candidate);
  if (worker.verdict && worker.verdict->candidate == candidate) {
    PoolEvent event = *std::exchange(worker.verdict, std::nullopt);
    event.outcome = Measurement::NOT_MEASURED;
    Emit(std::move(event));
  }
  if (!worker.job || worker.job->candidate != candidate) return;
  const Job job = *std::exchange(worker.job, std::nullopt);
  worker.process.Kill();
  worker.ready = false;
  worker.loaded.clear();
  Emit(FailedEvent(job, kAbandoned));
}

void ProcessPool::Abandon(int candidate) {
  AbandonQueued(build_queue_, candidate);
  AbandonQueued(suspects_, candidate);
  for (const auto& worker : measurers_) AbandonMeasurer(*worker, candidate);
  for (const auto& builder : builders_) {
    if (!builder->job || builder->job->candidate != candidate) continue;
    Emit(FailedEvent(*builder->job, kAbandoned));
    // Its end is an event too.
    builder->job->candidate = kNobody;
    ++under_way_;
  }
}

}  // namespace tilewright::measure
