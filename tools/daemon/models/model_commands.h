// What a person asks a daemon about models: the commands of tilewrightd that
// only call it.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_COMMANDS_H_
#define TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_COMMANDS_H_

#include <grpcpp/channel.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "tools/daemon/daemon.pb.h"

namespace tilewright::daemon {

struct ModelOrder {
  std::string path;  // an .onnx of one file
  int priority = 0;
  int64_t trials = 0;  // 0: the default of 'tilewright tune'
  double seconds = 0;  // 0: no limit
};

// Sends the model. The same one with the same order, while it is under way, is
// the same model.
absl::StatusOr<ModelState> SubmitModel(
    const std::shared_ptr<grpc::Channel>& channel, const ModelOrder& order);

// A line for each model, with its number, state, title and message.
absl::StatusOr<std::string> ModelTable(
    const std::shared_ptr<grpc::Channel>& channel);

absl::StatusOr<ModelState> CancelModel(
    const std::shared_ptr<grpc::Channel>& channel, int64_t id);

// Waits until it is over, through restarts of the daemon. Cancelled.
absl::StatusOr<ModelState> WaitForModel(
    const std::shared_ptr<grpc::Channel>& channel, int64_t id,
    const Cancellation& cancellation);

// Writes the compiled model. FailedPrecondition: it is not done, or failed.
absl::Status FetchModel(const std::shared_ptr<grpc::Channel>& channel,
                        int64_t id, const std::string& output);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MODELS_MODEL_COMMANDS_H_
