// Builders and workers over the fake device, in virtual time.
#ifndef TILEWRIGHT_MEASURE_SIMULATION_SIMULATED_POOL_H_
#define TILEWRIGHT_MEASURE_SIMULATION_SIMULATED_POOL_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "backends/fake/device/fake_program.h"
#include "backends/fake/device/shared_device.h"
#include "base/random.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/worker_pool.h"

namespace tilewright::measure {

struct SimulatedPoolOptions {
  int workers = 16;
  int builders = 8;
  fake::DeviceConstants constants;
  uint64_t seed = 1;  // of the outliers
};

// The schedule of candidate i of the program: what crosses to the pool.
sketch::ScheduleProto SimulatedSchedule(int candidate);

// A worker's first candidate waits for its context to start, and so does the
// first one after a crash, a hang or a sticky error; with a new context per
// candidate each one does. Executions follow each other at a distance of one
// launch. The first one verifies. What was built once stays built.
class SimulatedPool : public WorkerPool {
 public:
  // `program` must outlive it.
  SimulatedPool(const fake::Setting& setting, const fake::FakeProgram* program,
                const SimulatedPoolOptions& options);

  int workers() const override { return options_.workers; }
  absl::StatusOr<int> Add(const WorkloadKey& workload,
                          const sketch::ScheduleProto& schedule) override;
  void Build(int candidate) override;
  void Prepare(int candidate, int worker) override;
  void Measure(int candidate, const AdaptiveEvaluatorOptions& repeats,
               int timeout_s) override;
  void Release(int) override {}
  void Forget(int) override {}
  absl::StatusOr<PoolEvent> Wait() override;
  // Goes on: its event takes no longer than others, in virtual time.
  void Abandon(int) override {}
  Method method() const override;

  double now_ns() const { return device_.now_ns(); }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  enum class Phase : uint8_t { kBuilding, kStarting, kLaunching, kExecuting };
  struct Task {
    int candidate = 0;
    Phase phase = Phase::kBuilding;
    double until_ns = kNever;  // but for kExecuting
    fake::SharedDevice::KernelId kernel = 0;
    // State of a measurement.
    double begin_ns = 0, execution_begin_ns = 0, deadline_ns = kNever;
    double timeout_ns = 0;
    bool verifying = false;
    std::shared_ptr<AdaptiveEvaluator> evaluator;
    std::vector<double> micro_batch_ns;
  };

  // By the id that Add gave.
  struct Known {
    const fake::FakeCandidate* candidate;
    int program_index;
    bool holds_worker = false;  // from Prepare to the end of Measure
    bool verified = false;
  };
  Known& known(int id) { return known_[static_cast<size_t>(id)]; }
  void StartBuilds();
  void Execute(Task& task);
  // Handles a task whose time comes, whose deadline passes, or whose execution
  // ends; true if `event` is what came of the task.
  bool TimeCame(Task& task, PoolEvent& event);
  bool EndExecution(Task& task, PoolEvent& event);
  // `loses_context`: its worker starts again.
  PoolEvent Fail(const Task& task, Measurement::Outcome outcome,
                 const char* message, bool loses_context);
  void FreeWorker(int candidate, bool loses_context);

  fake::Setting setting_;
  const fake::FakeProgram* program_;
  SimulatedPoolOptions options_;
  fake::SharedDevice device_;
  Random random_;
  std::vector<Task> tasks_;
  std::deque<int> to_build_;
  int building_ = 0;
  int warm_contexts_ = 0;  // of workers that hold no candidate
  std::vector<Known> known_;
  std::vector<bool> built_;  // by index in the program
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_SIMULATION_SIMULATED_POOL_H_
