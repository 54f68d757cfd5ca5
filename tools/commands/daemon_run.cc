#include "tools/commands/daemon_run.h"

#include <cstdint>
#include <cstdio>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_macros.h"
#include "compiler/kernels/version.h"
#include "tools/commands/daemon_records.h"
#include "tools/commands/tune_flags.h"
#include "tools/daemon/client.h"

namespace tilewright::tools {
namespace {

// Of a job without --trials.
constexpr int64_t kMostTasks = 1'000'000;

}  // namespace

absl::StatusOr<std::unique_ptr<DaemonRun>> DaemonRun::From(
    const CommandLine& line, const std::string& title, const DeviceSpec& spec) {
  if (!line.Has("daemon")) return nullptr;
  std::unique_ptr<DaemonRun> run(new DaemonRun());
  for (const absl::string_view address :
       absl::StrSplit(line.Get("daemon"), ',')) {
    Daemon& daemon = run->daemons_.emplace_back();
    daemon.address = std::string(address);
    TW_ASSIGN_OR_RETURN(daemon.channel,
                        daemon::ConnectTo(daemon.address, line.Get("tls")));
  }
  const TuneOptions options = TuneOptionsFrom(line);
  daemon::DaemonJob& job = run->job_;
  job.title = title;
  job.key = absl::StrCat(title, " ", SeedOfRun(options));
  job.priority = line.GetInt("priority", 0);
  job.most_tasks = options.trials > 0 ? options.trials : kMostTasks;
  job.device.set_spec(spec.name());
  job.device.set_structure_fingerprint(StructureFingerprint(spec).ToString());
  job.code_generation = kCodeGeneration;
  return run;
}

absl::StatusOr<measure::Measurer*> DaemonRun::Open(
    measure::Method::Cache cache) {
  job_.cache = cache;
  std::string reasons;
  std::vector<measure::FarmDevice> devices;
  for (Daemon& daemon : daemons_) {
    absl::StatusOr<std::unique_ptr<daemon::DaemonMeasurer>> measurer =
        daemon::DaemonMeasurer::Open(daemon.channel, job_);
    if (!measurer.ok()) {
      if (daemons_.size() == 1) return measurer.status();
      absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", daemon.address,
                      ": ", measurer.status().message());
      continue;
    }
    daemon.measurer = *std::move(measurer);
    measure::FarmDevice& device = devices.emplace_back();
    device.name = daemon.address;
    device.start = [measurer = daemon.measurer.get()] {
      return measure::Borrow(*measurer);
    };
  }
  if (devices.empty()) return absl::UnavailableError(reasons);
  if (!reasons.empty())
    std::fprintf(stderr, "tilewright: note: goes on without %s\n",
                 reasons.c_str());
  if (daemons_.size() == 1) return daemons_[0].measurer.get();
  TW_ASSIGN_OR_RETURN(farm_, measure::FarmMeasurer::Start(devices));
  return farm_.get();
}

absl::Status DaemonRun::End(measure::Store& store, bool interrupted) {
  std::set<std::string> lost;
  if (farm_ != nullptr) {
    for (const measure::FarmMeasurer::DeviceState& device : farm_->devices()) {
      if (device.status.ok()) continue;
      lost.insert(device.name);
      std::fprintf(stderr, "tilewright: note: went on without %s: %s\n",
                   device.name.c_str(),
                   std::string(device.status.message()).c_str());
    }
    farm_.reset();
  }
  absl::Status ended;
  for (const Daemon& daemon : daemons_) {
    if (daemon.measurer == nullptr || lost.count(daemon.address) != 0) continue;
    ended.Update(SendComparisons(daemon.channel, store));
    ended.Update(interrupted ? daemon.measurer->Cancel()
                             : daemon.measurer->Close());
  }
  return ended;
}

}  // namespace tilewright::tools
