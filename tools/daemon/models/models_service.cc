#include "tools/daemon/models/models_service.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/peer.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{200};
constexpr size_t kPartBytes = size_t{1} << 20;

// A file that is removed unless it becomes something else.
class Upload {
 public:
  explicit Upload(const std::string& path)
      : path_(path), file_(path, std::ios::binary) {}
  ~Upload() {
    file_.close();
    std::remove(path_.c_str());
  }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  void Write(const std::string& part) {
    file_.write(part.data(), static_cast<std::streamsize>(part.size()));
    bytes_ += static_cast<int64_t>(part.size());
  }
  int64_t bytes() const { return bytes_; }
  absl::Status Close() {
    file_.close();
    return file_ ? absl::OkStatus()
                 : absl::ResourceExhaustedError(
                       "the daemon cannot write the model; is its disk full?");
  }

 private:
  const std::string path_;
  std::ofstream file_;
  int64_t bytes_ = 0;
};

SubmittedModel ModelOf(const std::string& owner,
                       const SubmitModelRequest& request) {
  SubmittedModel model;
  model.set_owner(owner);
  model.set_key(request.key());
  ModelState& state = *model.mutable_state();
  state.set_title(request.title());
  state.set_priority(request.priority());
  state.set_trials(std::max<int64_t>(request.trials(), 0));
  state.set_seconds(std::max(request.seconds(), 0.0));
  return model;
}

}  // namespace

absl::StatusOr<ModelState> ModelsService::Receive(
    const std::string& owner, const SubmitModelRequest& first,
    grpc::ServerReader<SubmitModelRequest>* reader) {
  if (first.model_bytes() > most_model_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a model may have ", most_model_bytes_, " bytes, not ",
                     first.model_bytes()));
  }
  TW_ASSIGN_OR_RETURN(const std::string path, runs_.NewUpload());
  Upload upload(path);
  upload.Write(first.part());
  SubmitModelRequest request;
  while (upload.bytes() <= first.model_bytes() && reader->Read(&request))
    upload.Write(request.part());
  TW_RETURN_IF_ERROR(upload.Close());
  if (upload.bytes() != first.model_bytes()) {
    return absl::DataLossError(absl::StrCat("the model has ",
                                            first.model_bytes(), " bytes, but ",
                                            upload.bytes(), " came"));
  }
  return runs_.Submit(path, ModelOf(owner, first));
}

grpc::Status ModelsService::SubmitModel(
    grpc::ServerContext* context,
    grpc::ServerReader<SubmitModelRequest>* reader, ModelState* reply) {
  const std::string owner = OwnerOf(*context);
  SubmitModelRequest first;
  if (!reader->Read(&first))
    return ToGrpc(absl::InvalidArgumentError("a model without a request"));
  const absl::Status version =
      measure::CheckProtocolVersion(first.protocol_version(), "the client");
  if (!version.ok()) return ToGrpc(version);
  absl::StatusOr<ModelState> state = runs_.Find(owner, first.key());
  if (!state.ok()) state = Receive(owner, first, reader);
  if (!state.ok()) return ToGrpc(state.status());
  *reply = *state;
  return grpc::Status::OK;
}

grpc::Status ModelsService::ListModels(grpc::ServerContext* context,
                                       const ListModelsRequest*,
                                       ListModelsReply* reply) {
  for (const ModelState& state : runs_.List(OwnerOf(*context)))
    *reply->add_models() = state;
  return grpc::Status::OK;
}

grpc::Status ModelsService::CancelModel(grpc::ServerContext* context,
                                        const ModelRequest* request,
                                        ModelState* reply) {
  const absl::StatusOr<ModelState> state =
      runs_.Cancel(OwnerOf(*context), request->model());
  if (!state.ok()) return ToGrpc(state.status());
  *reply = *state;
  return grpc::Status::OK;
}

grpc::Status ModelsService::WatchModel(grpc::ServerContext* context,
                                       const ModelRequest* request,
                                       grpc::ServerWriter<ModelState>* writer) {
  std::optional<ModelState::State> told;
  while (!context->IsCancelled()) {
    const absl::StatusOr<ModelState> state =
        runs_.Get(OwnerOf(*context), request->model());
    if (!state.ok()) return ToGrpc(state.status());
    if (told != state->state() && !writer->Write(*state)) break;
    told = state->state();
    if (IsOver(*told)) return grpc::Status::OK;
    std::this_thread::sleep_for(kWatchInterval);
  }
  return ToGrpc(absl::CancelledError("the client is gone"));
}

grpc::Status ModelsService::FetchModel(grpc::ServerContext* context,
                                       const ModelRequest* request,
                                       grpc::ServerWriter<ModelPart>* writer) {
  const absl::StatusOr<std::string> path =
      runs_.CompiledPath(OwnerOf(*context), request->model());
  if (!path.ok()) return ToGrpc(path.status());
  std::ifstream file(*path, std::ios::binary);
  std::string bytes(kPartBytes, '\0');
  while (file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ModelPart part;
    part.set_part(bytes.substr(0, static_cast<size_t>(file.gcount())));
    if (!part.part().empty() && !writer->Write(part))
      return ToGrpc(absl::CancelledError("the client is gone"));
  }
  if (file.eof()) return grpc::Status::OK;
  return ToGrpc(absl::DataLossError(
      absl::StrCat("model ", request->model(), " cannot be read any more")));
}

}  // namespace tilewright::daemon
