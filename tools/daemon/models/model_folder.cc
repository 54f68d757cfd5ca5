#include "tools/daemon/models/model_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace tilewright::daemon {
namespace {

namespace fs = std::filesystem;

constexpr char kAbout[] = "about.pb", kUpload[] = "upload-";
constexpr int64_t kMostAboutBytes = int64_t{1} << 20;
constexpr size_t kMostNameLength = 80;

// "resnet18.onnx" of whatever a client calls it: a name of a file of its own.
std::string FileNameOf(const std::string& title) {
  std::string name = fs::path(title).filename().string();
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       c == '.' || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  if (name.size() > kMostNameLength)
    name = name.substr(name.size() - kMostNameLength);
  if (!absl::EndsWith(name, ".onnx")) name += ".onnx";
  return name[0] == '.' ? "model" + name : name;
}

// What it holds is on the disk.
absl::Status Sync(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (synced) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": ", strerror(error)));
}

absl::Status Failed(const std::string& path, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
}

}  // namespace

bool IsOver(ModelState::State state) {
  return state == ModelState::DONE || state == ModelState::FAILED ||
         state == ModelState::CANCELLED;
}

std::string ModelFolder::PathOf(int64_t id, absl::string_view file) const {
  return absl::StrCat(folder_, "/", id, "/", file);
}

absl::StatusOr<ModelFolder> ModelFolder::Open(const std::string& folder) {
  std::error_code error;
  if (fs::create_directory(folder, error))
    fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return Failed(folder, error);
  ModelFolder models(folder);
  TW_ASSIGN_OR_RETURN(
      models.lock_,
      FileLock::Take(folder + "/lock",
                     absl::StrCat("models ", folder,
                                  ": another daemon has them; stop it first")));
  TW_RETURN_IF_ERROR(models.Read());
  return models;
}

absl::Status ModelFolder::Read() {
  std::error_code error;
  std::vector<fs::path> left_over;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    int64_t id = 0;
    if (!absl::SimpleAtoi(name, &id)) {
      if (absl::StartsWith(name, kUpload)) left_over.push_back(entry.path());
      continue;
    }
    const std::string about = PathOf(id, kAbout);
    const absl::StatusOr<std::string> bytes = ReadFile(about, kMostAboutBytes);
    // Add did not end: nobody was told of it.
    if (absl::IsNotFound(bytes.status())) {
      left_over.push_back(entry.path());
      continue;
    }
    TW_RETURN_IF_ERROR(bytes.status());
    SubmittedModel model;
    if (!model.ParseFromString(*bytes) || model.state().id() != id) {
      return absl::DataLossError(absl::StrCat(
          about, ": is damaged; remove the folder to lose this model alone"));
    }
    if (!IsOver(model.state().state()))
      model.mutable_state()->set_state(ModelState::WAITING);
    models_[id] = std::move(model);
  }
  for (const fs::path& path : left_over) fs::remove_all(path, error);
  return error ? Failed(folder_, error) : absl::OkStatus();
}

absl::StatusOr<std::string> ModelFolder::NewUpload() {
  return absl::StrCat(folder_, "/", kUpload, ++uploads_);
}

absl::StatusOr<SubmittedModel> ModelFolder::Add(const std::string& upload,
                                                SubmittedModel model) {
  const int64_t id = models_.empty() ? 1 : models_.rbegin()->first + 1;
  model.mutable_state()->set_id(id);
  model.set_file(FileNameOf(model.state().title()));
  TW_RETURN_IF_ERROR(Sync(upload));
  std::error_code error;
  const std::string path = PathOf(id, model.file());
  fs::create_directory(fs::path(path).parent_path(), error);
  if (!error) fs::rename(upload, path, error);
  if (error) return Failed(path, error);
  TW_RETURN_IF_ERROR(Keep(model));
  models_[id] = model;
  return model;
}

absl::Status ModelFolder::Keep(const SubmittedModel& model) {
  return WriteFileAtomically(PathOf(model.state().id(), kAbout),
                             model.SerializeAsString());
}

absl::Status ModelFolder::SetState(int64_t id, ModelState::State state,
                                   const std::string& message) {
  SubmittedModel& model = models_.at(id);
  model.mutable_state()->set_state(state);
  model.mutable_state()->set_message(message);
  return Keep(model);
}

}  // namespace tilewright::daemon
