// The tasks that `tune` searches: the distinct kernels of a compiled model,
// with everything a search of each needs.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_TUNE_TASKS_H_
#define TILEWRIGHT_TOOLS_COMMANDS_TUNE_TASKS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/cancellation.h"
#include "compiler/compile.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "search/method.h"
#include "search/score_model.h"
#include "search/space.h"
#include "search/task_scheduler.h"
#include "search/tuner.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

struct TuneTask {
  std::string name;  // "k3: conv1 relu1"
  search::ScheduledTask scheduled;
  measure::WorkloadKey workload;
  std::unique_ptr<search::TaskSpace> space;
  std::unique_ptr<search::Method> method;
  std::unique_ptr<search::Tuner> tuner;
  int known = 0;  // candidates of earlier runs
};

struct TuneTasks {
  std::vector<std::unique_ptr<search::ScoreModel>> models;  // of the tasks
  std::vector<TuneTask> tasks;
  std::vector<std::string> notes;  // what is not tuned, and why
};

// By --optimizer, --cost-model, --crossover, --seed. `header` says how records
// of this run are made; candidates of other runs in the store are known from
// the beginning. Kernels whose first generator was refused are not tuned:
// nothing could be compared with the rules. All must outlive the result.
absl::StatusOr<TuneTasks> MakeTuneTasks(
    const CommandLine& line, const CompiledModel& model, const DeviceSpec& spec,
    const measure::Record& header, measure::Store& store,
    measure::Measurer& measurer, const Cancellation& cancellation);

// The seed of a run: with an equal seed of records it is repeated and goes on
// where it was.
uint64_t SeedOfRun(const CommandLine& line);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_TUNE_TASKS_H_
