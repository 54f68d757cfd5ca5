// The models that were submitted to a daemon, a folder each: the file, what is
// known of it (submitted_model.proto), what tuning measured, and the compiled
// model. Every change is on the disk before it returns, and there in whole
// after kill -9.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_FOLDER_H_
#define TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_FOLDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/daemon/file_lock.h"
#include "tools/daemon/models/submitted_model.pb.h"

namespace tilewright::daemon {

// Not thread-safe.
class ModelFolder {
 public:
  // Reads what is there; makes the folder if it is not. What had begun waits
  // again, and uploads that did not end are removed. AlreadyExists: another
  // process has it. DataLoss: a model's file is damaged.
  static absl::StatusOr<ModelFolder> Open(const std::string& folder);

  // By id.
  const std::map<int64_t, SubmittedModel>& models() const { return models_; }

  // Where the bytes of a new model are written to. They become one by Add.
  absl::StatusOr<std::string> NewUpload();
  // `model` with an id and a file name of its own. Takes the file away.
  absl::StatusOr<SubmittedModel> Add(const std::string& upload,
                                     SubmittedModel model);
  // With an error it holds until the folder is opened again.
  absl::Status SetState(int64_t id, ModelState::State state,
                        const std::string& message);

  std::string PathOf(int64_t id, absl::string_view file) const;
  std::string RecordsPath(int64_t id) const { return PathOf(id, "records.db"); }
  std::string CompiledPath(int64_t id) const { return PathOf(id, "model.tw"); }

 private:
  explicit ModelFolder(std::string folder) : folder_(std::move(folder)) {}
  absl::Status Read();
  absl::Status Keep(const SubmittedModel& model);

  std::string folder_;
  std::unique_ptr<FileLock> lock_;
  std::map<int64_t, SubmittedModel> models_;
  int64_t uploads_ = 0;
};

bool IsOver(ModelState::State state);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_FOLDER_H_
