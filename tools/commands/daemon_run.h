// The part that tuning daemons (--daemon=ADDRESS[,ADDRESS]) have in a run of
// 'tilewright tune'.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_DAEMON_RUN_H_
#define TILEWRIGHT_TOOLS_COMMANDS_DAEMON_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/farm/farm_measurer.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "tools/commands/command_line.h"
#include "tools/daemon/daemon_measurer.h"

namespace tilewright::tools {

class DaemonRun {
 public:
  // Null without --daemon. InvalidArgument: what is no address. `line` must
  // outlive it.
  static absl::StatusOr<std::unique_ptr<DaemonRun>> From(
      const CommandLine& line, const std::string& title,
      const DeviceSpec& spec);

  // Opens the run's job at each daemon, or finds it again by the same command.
  // Several daemons share the candidates; one that cannot be reached any more
  // leaves its part to the others. Unavailable, with every reason, if none can
  // be.
  absl::StatusOr<measure::Measurer*> Open(measure::Method::Cache cache);

  // Of what was opened: the daemons hear what this run compared, and that no
  // more comes; or, interrupted, that nothing is wanted any more.
  absl::Status End(measure::Store& store, bool interrupted);

 private:
  struct Daemon {
    std::string address;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<daemon::DaemonMeasurer> measurer;  // null: not reached
  };
  DaemonRun() = default;

  daemon::DaemonJob job_;
  std::vector<Daemon> daemons_;
  std::unique_ptr<measure::FarmMeasurer> farm_;  // of several
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_DAEMON_RUN_H_
