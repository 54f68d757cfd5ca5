#include "tools/daemon/models/model_runs.h"

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "tools/daemon/models/child_program.h"

namespace tilewright::daemon {
namespace {

// What tuning found for the whole model, of all that it said.
std::string Outcome(const std::string& path) {
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line)) {
    absl::string_view text = line;
    if (absl::ConsumePrefix(&text, "tune: ")) last = std::string(text);
  }
  return last;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelRuns>> ModelRuns::Start(
    const ModelRunsOptions& options) {
  TW_ASSIGN_OR_RETURN(ModelFolder folder, ModelFolder::Open(options.folder));
  std::unique_ptr<ModelRuns> runs(new ModelRuns(options, std::move(folder)));
  runs->thread_ = std::thread([runs = runs.get()] { runs->Run(); });
  return runs;
}

ModelRuns::~ModelRuns() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_.Cancel();
    changed_.notify_all();
  }
  thread_.join();
}

absl::StatusOr<ModelState> ModelRuns::Find(const std::string& owner,
                                           const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, model] : folder_.models()) {
    if (model.owner() == owner && model.key() == key &&
        !IsOver(model.state().state())) {
      return model.state();
    }
  }
  return absl::NotFoundError("no such model is under way");
}

absl::StatusOr<std::string> ModelRuns::NewUpload() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return folder_.NewUpload();
}

absl::StatusOr<ModelState> ModelRuns::Submit(const std::string& upload,
                                             const SubmittedModel& model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t waiting = 0;
  for (const auto& [id, other] : folder_.models())
    waiting += other.owner() == model.owner() && !IsOver(other.state().state());
  if (waiting >= options_.most_waiting) {
    return absl::ResourceExhaustedError(
        absl::StrCat(waiting, " models of yours wait; cancel one"));
  }
  TW_ASSIGN_OR_RETURN(const SubmittedModel added, folder_.Add(upload, model));
  changed_.notify_all();
  return added.state();
}

absl::StatusOr<ModelState> ModelRuns::Get(const std::string& owner,
                                          int64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = folder_.models().find(id);
  if (found != folder_.models().end() && found->second.owner() == owner)
    return found->second.state();
  return absl::NotFoundError(absl::StrCat("you have no model ", id,
                                          "; 'tilewrightd models' lists them"));
}

std::vector<ModelState> ModelRuns::List(const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ModelState> states;
  for (const auto& [id, model] : folder_.models()) {
    if (model.owner() == owner) states.push_back(model.state());
  }
  return states;
}

absl::StatusOr<ModelState> ModelRuns::Cancel(const std::string& owner,
                                             int64_t id) {
  TW_ASSIGN_OR_RETURN(const ModelState state, Get(owner, id));
  if (IsOver(state.state())) return state;
  const std::lock_guard<std::mutex> lock(mutex_);
  TW_RETURN_IF_ERROR(folder_.SetState(id, ModelState::CANCELLED, "cancelled"));
  if (running_ == id) cancel_->Cancel();
  return folder_.models().at(id).state();
}

absl::StatusOr<std::string> ModelRuns::CompiledPath(const std::string& owner,
                                                    int64_t id) {
  TW_ASSIGN_OR_RETURN(const ModelState state, Get(owner, id));
  if (state.state() == ModelState::DONE) return folder_.CompiledPath(id);
  return absl::FailedPreconditionError(absl::StrCat(
      "model ", id, " is not compiled: ",
      state.message().empty() ? ModelState::State_Name(state.state())
                              : state.message()));
}

int64_t ModelRuns::Next() const {
  int64_t best = 0;
  int32_t priority = 0;
  for (const auto& [id, model] : folder_.models()) {
    if (model.state().state() != ModelState::WAITING) continue;
    if (best != 0 && model.state().priority() <= priority) continue;
    best = id;
    priority = model.state().priority();
  }
  return best;
}

void ModelRuns::SetState(int64_t id, ModelState::State state,
                         const std::string& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Its owner cancelled it meanwhile.
  if (folder_.models().at(id).state().state() == ModelState::CANCELLED) return;
  const absl::Status kept = folder_.SetState(id, state, message);
  if (!kept.ok()) {
    std::fprintf(stderr, "tilewrightd: %s\n",
                 std::string(kept.message()).c_str());
  }
}

absl::Status ModelRuns::RunStep(ModelState::State step, int64_t id,
                                const std::vector<std::string>& arguments,
                                const std::string& output) {
  SetState(id, step);
  std::vector<std::string> command = {options_.program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunChild(command, output, *cancel_, end_);
}

absl::StatusOr<std::string> ModelRuns::TuneAndCompile(
    const SubmittedModel& model) {
  const ModelState& asked = model.state();
  const int64_t id = asked.id();
  const std::string onnx = folder_.PathOf(id, model.file());
  const std::string records =
      absl::StrCat("--records=", folder_.RecordsPath(id));
  std::vector<std::string> tune = {"tune", onnx, records};
  tune.insert(tune.end(), options_.connect.begin(), options_.connect.end());
  if (asked.trials() > 0)
    tune.push_back(absl::StrCat("--trials=", asked.trials()));
  if (asked.seconds() > 0)
    tune.push_back(absl::StrCat("--time=", asked.seconds()));
  if (asked.priority() != 0)
    tune.push_back(absl::StrCat("--priority=", asked.priority()));
  const std::string tuned = folder_.PathOf(id, "tune.txt");
  TW_RETURN_IF_ERROR(RunStep(ModelState::TUNING, id, tune, tuned));
  TW_RETURN_IF_ERROR(
      RunStep(ModelState::COMPILING, id,
              {"compile", onnx, records, "-o", folder_.CompiledPath(id)},
              folder_.PathOf(id, "compile.txt")));
  return Outcome(tuned);
}

void ModelRuns::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return end_.cancelled() || Next() != 0; });
    if (end_.cancelled()) return;
    running_ = Next();
    cancel_ = std::make_unique<Cancellation>();
    const SubmittedModel model = folder_.models().at(running_);
    lock.unlock();
    const absl::StatusOr<std::string> said = TuneAndCompile(model);
    if (said.ok()) {
      SetState(model.state().id(), ModelState::DONE, *said);
    } else if (!end_.cancelled()) {
      SetState(model.state().id(), ModelState::FAILED,
               std::string(said.status().message()));
    }
    lock.lock();
    running_ = 0;
  }
}

}  // namespace tilewright::daemon
