// Internal to the pool: what its children are and do.
#ifndef TILEWRIGHT_MEASURE_WORKER_POOL_POOL_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_POOL_POOL_WORKER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measure/parallel/worker_pool.h"
#include "measure/worker/pool/build_cache.h"
#include "measure/worker/pool/worker_process.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {

struct PoolFailure {
  Measurement::Outcome outcome;
  Measurement::Fault fault;
  std::string message;
  int signal = 0;
  bool lost = false;  // the worker has to start again
};

struct PoolJob {
  PoolEvent::Kind kind = PoolEvent::Kind::kBuilt;
  int candidate = 0;
  std::shared_ptr<Build> build;
  Repeats repeats;
  double limit_s = 0;
  bool alone = false;    // as it failed before
  bool retried = false;  // a build whose builder was killed
};

// PoolWorker::only_candidate
inline constexpr int kNone = -1, kSeveral = -2;

// A child and what it is doing.
struct PoolWorker {
  bool is_builder = false;
  WorkerProcess process;
  bool ready = false;
  int failed_starts = 0;  // in a row
  int64_t start_not_before_ns = 0;
  int64_t deadline_ns = 0;  // of the start, or of the job's current step
  std::optional<PoolJob> job;
  bool executing = false;      // the candidate that it measures: it counts
  int64_t paused_with_ns = 0;  // of a builder: until its deadline; 0: it is not
  std::deque<PoolJob> queue;   // of a measurer
  std::set<int> loaded;        // candidates
  int only_candidate = kNone;  // that it has executed; or kSeveral
  bool had_company = false;
  std::vector<double> latencies_ns;  // of the job, so far
  // A failure that is the candidate's if the worker comes back.
  std::optional<PoolEvent> verdict;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_POOL_POOL_WORKER_H_
