#include "measure/worker/builder_worker.h"

#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "measure/verify/cpu_spent.h"
#include "measure/worker/confinement.h"
#include "measure/worker/protocol_version.h"
#include "sketch/trace/workload.h"

namespace tilewright::measure {
namespace {

absl::StatusOr<BuiltCandidate> Build(const BuildFunction& build,
                                     const WorkerRequest::Build& request) {
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(request.workload()));
  return build(workload, request.schedule());
}

WorkerReply Failure(Measurement::Fault fault, const absl::Status& status) {
  WorkerReply reply;
  WorkerReply::Failed& failed = *reply.mutable_failed();
  failed.set_outcome(Measurement::BUILD_ERROR);
  failed.set_fault(fault);
  failed.set_message(std::string(status.message()));
  return reply;
}

}  // namespace

absl::Status ServeBuilds(MessageChannel& channel, const WorkerBackend& backend,
                         const WorkerSetup& setup) {
  LimitResources(setup.address_space_bytes());
  const absl::StatusOr<BuildFunction> build =
      backend.builder(setup.backend_options());
  if (!build.ok()) {
    return channel.SendAll(
        Failure(Measurement::INFRASTRUCTURE, build.status()));
  }
  WorkerReply ready;
  ready.mutable_ready()->set_protocol_version(kProtocolVersion);
  TW_RETURN_IF_ERROR(channel.SendAll(ready));
  while (true) {
    WorkerRequest request;
    TW_RETURN_IF_ERROR(channel.Receive(request));
    const int64_t start_ns = RealClock()->WallNs();
    const int64_t before_ns = CpuSpentNs();
    absl::StatusOr<BuiltCandidate> built = Build(*build, request.build());
    WorkerReply reply;
    if (built.ok()) {
      *reply.mutable_built()->mutable_built() = *std::move(built);
      reply.mutable_built()->set_build_ns(RealClock()->WallNs() - start_ns);
    } else {
      reply = Failure(Measurement::CANDIDATE, built.status());
    }
    reply.mutable_spent()->set_building_ns(CpuSpentNs() - before_ns);
    TW_RETURN_IF_ERROR(channel.SendAll(reply));
  }
}

}  // namespace tilewright::measure
