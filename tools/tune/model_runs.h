// Runs of a model with the winners of some tasks, interleaved with runs of the
// model with the rules' schedules: search::ModelEvaluator on this machine.
#ifndef TILEWRIGHT_TOOLS_TUNE_MODEL_RUNS_H_
#define TILEWRIGHT_TOOLS_TUNE_MODEL_RUNS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "base/cancellation.h"
#include "compiler/compile.h"
#include "compiler/kernels/schedule_source.h"
#include "frontends/onnx/import_model.h"
#include "search/model_evaluator.h"
#include "tools/model_io.h"
#include "tools/tune/tuned_device.h"

namespace tilewright::tools {

// The winner of a task, and the text of its workload.
struct TaskWinner {
  std::string workload;
  SourcedSchedule schedule;  // its source empty: the task has none
};

class ModelRuns : public search::ModelEvaluator {
 public:
  // `options` are those that the model was compiled with, by the rules. All but
  // `winners` must outlive it.
  ModelRuns(const ImportedModel& model, const backends::Codegen& codegen,
            const CompileOptions& options, const TunedDevice& device,
            std::vector<TaskWinner> winners, const Cancellation& cancellation)
      : model_(model),
        codegen_(codegen),
        options_(options),
        device_(device),
        winners_(std::move(winners)),
        cancellation_(cancellation) {}

  // With one thread by the device's model_timer, with more by the wall clock.
  // Errors of compiling and of
  // running; Cancelled.
  absl::StatusOr<search::ModelRounds> Compare(const std::vector<bool>& tuned,
                                              int threads) override;

 private:
  // The bytes of the .tw; kept for the two sets that were asked for last.
  absl::StatusOr<std::string> Compiled(const std::vector<bool>& tuned);
  absl::StatusOr<DrawnRun> Load(
      const std::vector<bool>& tuned,
      const std::shared_ptr<backends::Device>& device);

  const ImportedModel& model_;
  const backends::Codegen& codegen_;
  const CompileOptions& options_;
  const TunedDevice& device_;
  const std::vector<TaskWinner> winners_;
  const Cancellation& cancellation_;
  std::map<std::vector<bool>, std::string> compiled_;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_MODEL_RUNS_H_
