// The tasks of a search for a model: its distinct kernels, with everything that
// a search for each of them needs.
#ifndef TILEWRIGHT_TOOLS_TUNE_MODEL_TASKS_H_
#define TILEWRIGHT_TOOLS_TUNE_MODEL_TASKS_H_

#include <cstddef>
#include <memory>
#include <optional>
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
#include "sketch/rules/generator.h"
#include "tools/tune/tune_options.h"

namespace tilewright::tools {

struct ModelTask {
  std::string name;         // "k3: conv1 relu1"
  size_t kernel = 0;        // its index in the compiled model
  sketch::Generator rules;  // the generator that compiling asks first
  search::ScheduledTask scheduled;
  measure::WorkloadKey workload;
  std::unique_ptr<search::TaskSpace> space;
  std::unique_ptr<search::Method> method;
  std::unique_ptr<search::Tuner> tuner;
  int known = 0;  // candidates of earlier runs
};

struct ModelTasks {
  std::vector<std::unique_ptr<search::ScoreModel>> models;  // of the tasks
  std::vector<ModelTask> tasks;
  std::vector<std::string> notes;  // which kernels are not tuned, and why
};

// `header` says how records of this run are made; candidates of other runs in
// the store are known from the beginning, but with keep_bits. Kernels whose
// first generator was refused are not tuned: nothing could be compared with the
// rules. All must outlive the result.
absl::StatusOr<ModelTasks> MakeModelTasks(const TuneOptions& options,
                                          const CompiledModel& model,
                                          const DeviceSpec& spec,
                                          const measure::Record& header,
                                          measure::Store& store,
                                          measure::Measurer& measurer,
                                          const Cancellation& cancellation);

// Trials of all tasks together, by default 64 for each.
int TrialsOf(const TuneOptions& options, size_t tasks);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_MODEL_TASKS_H_
