// Models that clients submit, one after the other tuned and compiled by this
// daemon: 'tilewright tune' with its workers, then 'tilewright compile' with
// what that measured. After a restart what had begun goes on: tuning finds its
// job and its records again.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_RUNS_H_
#define TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_RUNS_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "tools/daemon/models/model_folder.h"

namespace tilewright::daemon {

struct ModelRunsOptions {
  std::string folder;                // of the models
  std::string program;               // tilewright
  std::vector<std::string> connect;  // its flags: --daemon=..., --tls=...
  int64_t most_waiting = 64;         // of one owner
};

// Thread-safe.
class ModelRuns {
 public:
  // Begins at once with what waits. Errors of the folder.
  static absl::StatusOr<std::unique_ptr<ModelRuns>> Start(
      const ModelRunsOptions& options);
  // Kills what runs: it goes on when somebody starts again.
  ~ModelRuns();
  ModelRuns(const ModelRuns&) = delete;
  ModelRuns& operator=(const ModelRuns&) = delete;

  // The owner's model with that key that is not over, if there is one.
  absl::StatusOr<ModelState> Find(const std::string& owner,
                                  const std::string& key);
  absl::StatusOr<std::string> NewUpload();
  // The file at `upload` as a model; `model` says all but id, state and file.
  // ResourceExhausted: its owner has too many that are not over.
  absl::StatusOr<ModelState> Submit(const std::string& upload,
                                    const SubmittedModel& model);

  // NotFound: the owner has no such model.
  absl::StatusOr<ModelState> Get(const std::string& owner, int64_t id);
  std::vector<ModelState> List(const std::string& owner);
  // One that is over stays as it is.
  absl::StatusOr<ModelState> Cancel(const std::string& owner, int64_t id);
  // FailedPrecondition: it is not done.
  absl::StatusOr<std::string> CompiledPath(const std::string& owner,
                                           int64_t id);

 private:
  ModelRuns(const ModelRunsOptions& options, ModelFolder folder)
      : options_(options), folder_(std::move(folder)) {}
  void Run();
  // 0: none waits. With the lock held.
  int64_t Next() const;
  // Without the lock.
  absl::Status RunStep(ModelState::State step, int64_t id,
                       const std::vector<std::string>& arguments,
                       const std::string& output);
  absl::StatusOr<std::string> TuneAndCompile(const SubmittedModel& model);
  void SetState(int64_t id, ModelState::State state,
                const std::string& message = "");

  const ModelRunsOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ModelFolder folder_;
  Cancellation end_;
  int64_t running_ = 0;                   // 0: none
  std::unique_ptr<Cancellation> cancel_;  // of what runs
  std::thread thread_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_RUNS_H_
