#include "tools/daemon/serve/serve.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "tools/daemon/models/model_runs.h"
#include "tools/daemon/models/models_service.h"
#include "tools/daemon/monitoring/event_log.h"
#include "tools/daemon/monitoring/monitor.h"
#include "tools/daemon/monitoring/site.h"
#include "tools/daemon/monitoring/web_server.h"
#include "tools/daemon/server.h"
#include "tools/daemon/slurm/run_program.h"
#include "tools/daemon/slurm/slurm_workers.h"

namespace tilewright::daemon {
namespace {

using Level = EventLog::Level;

std::string ThisProgram() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

absl::Status Missing(absl::string_view flag) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is missing; see 'tilewrightd --help'"));
}

// This program as a worker, on whichever host Slurm chooses.
SlurmOptions SlurmFrom(const ServeFlags& flags) {
  constexpr char kIdleSeconds[] = "60";
  SlurmOptions options;
  options.name = absl::StrCat("tilewrightd-", geteuid());
  options.command =
      absl::StrCat(ShellWord(ThisProgram()), " worker --idle=", kIdleSeconds,
                   " --daemon=", ShellWord(flags.slurm));
  if (!flags.slurm_tls.empty())
    absl::StrAppend(&options.command, " --tls=", ShellWord(flags.slurm_tls));
  options.options = absl::StrSplit(flags.slurm_options, ' ', absl::SkipEmpty());
  options.most_workers = flags.slurm_workers;
  return options;
}

absl::Status Adjust(SharedQueue& queue, SlurmWorkers& slurm) {
  TW_ASSIGN_OR_RETURN(
      const int64_t waiting,
      queue.Read([](measure::JobQueue& jobs) { return jobs.WaitingTasks(); }));
  return slurm.Adjust(waiting).status();
}

// Models are tuned by a client of this daemon's own.
absl::StatusOr<ModelRunsOptions> ModelsFrom(const ServeFlags& flags,
                                            const ServerOptions& server) {
  ModelRunsOptions options;
  options.folder = server.state + "/models";
  options.program =
      flags.tilewright.empty()
          ? std::filesystem::path(ThisProgram()).replace_filename("tilewright")
          : std::filesystem::path(UserPath(flags.tilewright));
  if (access(options.program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(
        options.program, ": no program; say where it is with --tilewright"));
  }
  for (const std::string& address : server.listen) {
    if (absl::StartsWith(address, "unix:"))
      options.connect = {"--daemon=" + address};
  }
  if (options.connect.empty()) {
    return absl::InvalidArgumentError(
        "--models needs an address unix:PATH in --listen, by which the models "
        "are tuned");
  }
  return options;
}

// What is done while the server serves.
void Tend(SharedQueue& queue, Monitor& monitor, EventLog& log,
          std::optional<SlurmWorkers>& slurm, const Cancellation& stop) {
  constexpr int kPauseUs = 50'000, kPausesOfASample = 20, kPausesOfALook = 40;
  std::string trouble;
  for (int pauses = 0; !stop.cancelled(); ++pauses) {
    if (pauses % kPausesOfASample == 0) monitor.Sample();
    if (slurm && pauses % kPausesOfALook == 0) {
      const std::string before =
          std::exchange(trouble, std::string(Adjust(queue, *slurm).message()));
      if (!trouble.empty() && trouble != before) {
        std::fprintf(stderr, "tilewrightd: %s\n", trouble.c_str());
        log.Write(Level::kError, "slurm", {{"message", trouble}});
      }
    }
    usleep(kPauseUs);
  }
}

}  // namespace

absl::Status Serve(const ServeFlags& flags, const Cancellation& stop) {
  if (flags.listen.empty()) return Missing("--listen=ADDRESS");
  if (flags.state.empty()) return Missing("--state=DIR");
  Clock& clock = *RealClock();
  ServerOptions options;
  options.listen = absl::StrSplit(flags.listen, ',');
  options.tls = UserPath(flags.tls);
  options.state = UserPath(flags.state);
  options.queue.name = RandomName();
  options.queue.lease_ns = static_cast<int64_t>(flags.lease_s * 1e9);
  mkdir(options.state.c_str(), 0700);  // or the server says why not
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<EventLog> log,
                      EventLog::Open(UserPath(flags.log), clock));
  Monitor monitor(*log, clock);

  std::unique_ptr<ModelRuns> runs;
  std::optional<ModelsService> models;
  if (flags.models) {
    TW_ASSIGN_OR_RETURN(const ModelRunsOptions how, ModelsFrom(flags, options));
    TW_ASSIGN_OR_RETURN(runs, ModelRuns::Start(how));
    models.emplace(*runs, flags.model_mib << 20);
    options.more_services.push_back(&*models);
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                      Server::Start(options, clock, &monitor));
  std::fprintf(stderr, "tilewrightd: listening at %s\n", flags.listen.c_str());
  log->Write(Level::kInfo, "started", {{"listen", flags.listen}});

  Site site(server->queue(), monitor, *log);
  std::unique_ptr<WebServer> web;
  if (!flags.web.empty()) {
    const std::string path = options.state + "/web_token";
    TW_ASSIGN_OR_RETURN(const std::string token, WebToken(path));
    TW_ASSIGN_OR_RETURN(web, WebServer::Start(flags.web, token, site));
    // The token itself is in no log.
    std::fprintf(stderr, "tilewrightd: page at http://%s:%d/?token=$(cat %s)\n",
                 flags.web.substr(0, flags.web.rfind(':')).c_str(), web->port(),
                 path.c_str());
  }
  std::optional<SlurmWorkers> slurm;
  if (!flags.slurm.empty()) slurm.emplace(SlurmFrom(flags));
  Tend(server->queue(), monitor, *log, slurm, stop);
  log->Write(Level::kInfo, "ended", {});
  return absl::OkStatus();
}

}  // namespace tilewright::daemon
