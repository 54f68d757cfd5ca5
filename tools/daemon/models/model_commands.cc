#include "tools/daemon/models/model_commands.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon.grpc.pb.h"

namespace tilewright::daemon {
namespace {

constexpr size_t kPartBytes = size_t{1} << 20;
constexpr int64_t kMostModelBytes = int64_t{2} << 30;  // of a protobuf
constexpr double kTransferS = 600;

// A person waits for it.
CallOptions Shortly() {
  CallOptions options;
  options.patience_s = 2;
  return options;
}

CallOptions Transfer() {
  CallOptions options;
  options.deadline_s = kTransferS;
  return options;
}

ModelRequest RequestOf(int64_t id) {
  ModelRequest request;
  request.set_model(id);
  return request;
}

}  // namespace

absl::StatusOr<ModelState> SubmitModel(
    const std::shared_ptr<grpc::Channel>& channel, const ModelOrder& order) {
  TW_ASSIGN_OR_RETURN(const std::string bytes,
                      ReadFile(order.path, kMostModelBytes));
  SubmitModelRequest first;
  first.set_protocol_version(measure::kProtocolVersion);
  first.set_title(order.path.substr(order.path.rfind('/') + 1));
  first.set_priority(order.priority);
  first.set_trials(order.trials);
  first.set_seconds(order.seconds);
  first.set_model_bytes(static_cast<int64_t>(bytes.size()));
  first.set_key(absl::StrCat(Fingerprint::Of(bytes).ToString(), " ",
                             order.trials, " ", order.seconds));
  const auto stub = Models::NewStub(channel);
  ModelState state;
  TW_RETURN_IF_ERROR(
      CallPatiently(*channel, Transfer(), [&](grpc::ClientContext& context) {
        const auto writer = stub->SubmitModel(&context, &state);
        SubmitModelRequest request = first;
        for (size_t begin = 0; begin == 0 || begin < bytes.size();
             begin += kPartBytes) {
          request.set_part(bytes.substr(begin, kPartBytes));
          // It has what it needs, or refuses: Finish says which.
          if (!writer->Write(request)) break;
          request.Clear();
        }
        writer->WritesDone();
        return writer->Finish();
      }));
  return state;
}

absl::StatusOr<std::string> ModelTable(
    const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = Models::NewStub(channel);
  ListModelsReply reply;
  TW_RETURN_IF_ERROR(
      CallPatiently(*channel, Shortly(), [&](grpc::ClientContext& context) {
        return stub->ListModels(&context, ListModelsRequest(), &reply);
      }));
  std::string table = "MODEL STATE     PRIORITY NAME\n";
  for (const ModelState& model : reply.models()) {
    absl::StrAppendFormat(
        &table, "%5d %-9s %8d %s%s%s\n", model.id(),
        absl::AsciiStrToLower(ModelState::State_Name(model.state())),
        model.priority(), model.title(), model.message().empty() ? "" : ": ",
        model.message());
  }
  return table;
}

absl::StatusOr<ModelState> CancelModel(
    const std::shared_ptr<grpc::Channel>& channel, int64_t id) {
  const auto stub = Models::NewStub(channel);
  ModelState state;
  TW_RETURN_IF_ERROR(
      CallPatiently(*channel, Shortly(), [&](grpc::ClientContext& context) {
        return stub->CancelModel(&context, RequestOf(id), &state);
      }));
  return state;
}

absl::StatusOr<ModelState> WaitForModel(
    const std::shared_ptr<grpc::Channel>& channel, int64_t id,
    const Cancellation& cancellation) {
  const auto stub = Models::NewStub(channel);
  CallOptions options;
  options.cancellation = &cancellation;
  options.deadline_s = 1;  // reading is not interrupted
  ModelState state;
  const auto over = [&] {
    return state.state() == ModelState::DONE ||
           state.state() == ModelState::FAILED ||
           state.state() == ModelState::CANCELLED;
  };
  // Attempt by attempt, as each has a deadline.
  while (!over()) {
    const absl::Status watched =
        CallPatiently(*channel, options, [&](grpc::ClientContext& context) {
          const auto reader = stub->WatchModel(&context, RequestOf(id));
          while (reader->Read(&state)) continue;
          return reader->Finish();
        });
    if (cancellation.cancelled()) return absl::CancelledError("interrupted");
    if (!absl::IsDeadlineExceeded(watched)) TW_RETURN_IF_ERROR(watched);
  }
  return state;
}

absl::Status FetchModel(const std::shared_ptr<grpc::Channel>& channel,
                        int64_t id, const std::string& output) {
  const auto stub = Models::NewStub(channel);
  std::string bytes;
  TW_RETURN_IF_ERROR(
      CallPatiently(*channel, Transfer(), [&](grpc::ClientContext& context) {
        bytes.clear();
        const auto reader = stub->FetchModel(&context, RequestOf(id));
        ModelPart part;
        while (reader->Read(&part)) bytes += part.part();
        return reader->Finish();
      }));
  return WriteFileAtomically(output, bytes);
}

}  // namespace tilewright::daemon
