// The service Models of daemon.proto.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MODELS_MODELS_SERVICE_H_
#define TILEWRIGHT_TOOLS_DAEMON_MODELS_MODELS_SERVICE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/daemon/daemon.grpc.pb.h"
#include "tools/daemon/models/model_runs.h"

namespace tilewright::daemon {

// A model belongs to who submitted it (peer.h), and is not there for others.
// `runs` must outlive it.
class ModelsService final : public Models::Service {
 public:
  ModelsService(ModelRuns& runs, int64_t most_model_bytes)
      : runs_(runs), most_model_bytes_(most_model_bytes) {}

  grpc::Status SubmitModel(grpc::ServerContext* context,
                           grpc::ServerReader<SubmitModelRequest>* reader,
                           ModelState* reply) override;
  grpc::Status ListModels(grpc::ServerContext* context,
                          const ListModelsRequest* request,
                          ListModelsReply* reply) override;
  grpc::Status CancelModel(grpc::ServerContext* context,
                           const ModelRequest* request,
                           ModelState* reply) override;
  grpc::Status WatchModel(grpc::ServerContext* context,
                          const ModelRequest* request,
                          grpc::ServerWriter<ModelState>* writer) override;
  grpc::Status FetchModel(grpc::ServerContext* context,
                          const ModelRequest* request,
                          grpc::ServerWriter<ModelPart>* writer) override;

 private:
  absl::StatusOr<ModelState> Receive(
      const std::string& owner, const SubmitModelRequest& first,
      grpc::ServerReader<SubmitModelRequest>* reader);

  ModelRuns& runs_;
  const int64_t most_model_bytes_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MODELS_MODELS_SERVICE_H_
