// What a person asks a daemon about jobs: the commands of tilewrightd that only
// call it.
#ifndef TILEWRIGHT_TOOLS_DAEMON_JOB_COMMANDS_H_
#define TILEWRIGHT_TOOLS_DAEMON_JOB_COMMANDS_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "tools/daemon/daemon.pb.h"

namespace tilewright::daemon {

// A line for each job, with its number, state, progress and title.
absl::StatusOr<std::string> JobTable(
    const std::shared_ptr<grpc::Channel>& channel);

// By their numbers. InvalidArgument: that is none; NotFound: no such job.
absl::Status CancelJobs(const std::shared_ptr<grpc::Channel>& channel,
                        const std::vector<std::string>& numbers);

// Adds these records of all jobs to the store; those that are there already are
// counted. An empty request: all.
absl::StatusOr<measure::AddedRecords> ExportRecords(
    const std::shared_ptr<grpc::Channel>& channel, const QueryRequest& which,
    measure::Store& store);

// The other way: what was measured here, without a lease.
absl::Status AddRecords(const std::shared_ptr<grpc::Channel>& channel,
                        absl::Span<const measure::Record> records);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_JOB_COMMANDS_H_
