// A pool for tests: candidates do what a script says, in the order in which
// they were asked to.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_SCRIPTED_POOL_H_
#define TILEWRIGHT_MEASURE_PARALLEL_SCRIPTED_POOL_H_

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measure/parallel/worker_pool.h"

namespace tilewright::measure {

struct ScriptedCandidate {
  Measurement::Outcome build = Measurement::OK;
  Measurement::Outcome prepare = Measurement::OK;
  Measurement::Outcome alone = Measurement::OK;
  Measurement::Outcome in_parallel = Measurement::OK;
  std::optional<int> spills;
  bool blamed = false;  // the pool has tried it alone already
  double alone_ns = 1000;
  double in_parallel_ns = 1000;
  // If not empty: the executions, in place of three of in_parallel_ns.
  std::vector<double> in_parallel_samples_ns;
};

// Counts what happens, and checks that the calls are allowed.
class ScriptedPool : public WorkerPool {
 public:
  ScriptedPool(int workers, std::vector<ScriptedCandidate> script)
      : workers_(workers), script_(std::move(script)) {}

  // The schedule of candidate i of the script.
  static sketch::ScheduleProto Schedule(int i);
  std::vector<sketch::ScheduleProto> AllSchedules() const;

  int workers() const override { return workers_; }
  absl::StatusOr<int> Add(const WorkloadKey& workload,
                          const sketch::ScheduleProto& schedule) override;
  void Build(int candidate) override;
  void Prepare(int candidate, int worker) override;
  void Measure(int candidate, const AdaptiveEvaluatorOptions& repeats,
               int timeout_s) override;
  void Release(int candidate) override;
  void Forget(int candidate) override;
  absl::StatusOr<PoolEvent> Wait() override;
  void Abandon(int candidate) override { abandoned_.insert(candidate); }
  Method method() const override;

  // The next Wait, and all after it, fail.
  void Break() { broken_ = true; }

  int most_under_way = 0, most_measured = 0;
  // By index in the script, in the order of the calls.
  std::vector<int> measured;
  // By call of Prepare.
  std::vector<int> workers_used;
  // By call of Measure.
  std::vector<int> timeouts_s, repeats;
  std::vector<double> give_up_above_ns;
  int prepared_now() const { return static_cast<int>(prepared_.size()); }
  int pending_now() const { return static_cast<int>(pending_.size()); }

 private:
  struct Pending {
    PoolEvent event;
    bool beside_others = false;
  };
  const ScriptedCandidate& Of(int candidate) const;

  int workers_;
  std::vector<ScriptedCandidate> script_;
  std::vector<int> ids_;  // index in the script
  std::deque<Pending> pending_;
  std::set<int> built_, prepared_, fresh_, abandoned_;
  int under_way_ = 0, measuring_ = 0;
  bool broken_ = false;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_SCRIPTED_POOL_H_
