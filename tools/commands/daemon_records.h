// Records that a tuning daemon keeps for this user
// (--daemon=ADDRESS[,ADDRESS]), in a store of this machine, where they are used
// as all others.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_DAEMON_RECORDS_H_
#define TILEWRIGHT_TOOLS_COMMANDS_DAEMON_RECORDS_H_

#include <grpcpp/channel.h>

#include <memory>

#include "absl/status/status.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/record/store.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

// With --daemon, adds to --records what workers measured on devices like `spec`
// for any job of this user, and what `tune` compared for it. Errors of the
// daemon and of the store.
absl::Status FetchDaemonRecords(const CommandLine& line,
                                const DeviceSpec& spec);

// The store's comparisons, which are what compiling goes by (record_choice.h),
// to where FetchDaemonRecords finds them.
absl::Status SendComparisons(const std::shared_ptr<grpc::Channel>& channel,
                             measure::Store& store);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_DAEMON_RECORDS_H_
