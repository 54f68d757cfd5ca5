// tilewrightd: the tuning daemon, and its workers.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/allocation.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/kernels/version.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "measure/record/store.h"
#include "measure/worker/cpu/cpu_worker.h"
#include "measure/worker/pool/process_pool.h"
#include "measure/worker/run_worker.h"
#include "tools/daemon/client.h"
#include "tools/daemon/file_lock.h"
#include "tools/daemon/job_commands.h"
#include "tools/daemon/run_program.h"
#include "tools/daemon/server.h"
#include "tools/daemon/slurm_workers.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

constexpr char kUsage[] =
    "usage: tilewrightd COMMAND ...\n\n"
    "  tilewrightd serve --listen=ADDRESS[,ADDRESS] --state=DIR\n"
    "      keep the queue of jobs in DIR\n"
    "      --slurm=ADDRESS [--slurm-tls=DIR] [--slurm-workers=N]\n"
    "      [--slurm-options='--gres=gpu:1 --time=60']: workers are jobs of\n"
    "      Slurm, as many as there is work for; they reach the daemon there\n"
    "  tilewrightd worker --daemon=ADDRESS [--name=NAME] [--threads=N]\n"
    "                     [--idle=SECONDS]\n"
    "      measure candidates on this CPU until stopped (SIGTERM gives work\n"
    "      back), or there was no work for so long; one worker a machine, and "
    "nothing beside it. --threads: of\n"
    "      the device spec that its work is for\n"
    "  tilewrightd jobs --daemon=ADDRESS\n"
    "  tilewrightd cancel --daemon=ADDRESS JOB\n"
    "  tilewrightd export --daemon=ADDRESS --records=DB\n"
    "      add the records of all jobs to DB; what is there already is left "
    "out\n\n"
    "ADDRESS is unix:PATH, for this user alone, or tcp:HOST:PORT with\n"
    "--tls=DIR: ca.pem, cert.pem and key.pem, as docs/daemon.md makes them.\n"
    "Work is submitted by 'tilewright tune --daemon=ADDRESS'.\n";

constexpr int kMostWorkers = 6;

Cancellation g_stop;
void OnSignal(int) { g_stop.Cancel(); }

void StopOnSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESETHAND;  // a second one ends the process
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

struct Flags {
  std::string listen, tls, state, daemon, name, records;
  int threads = 0;
  std::string slurm, slurm_tls, slurm_options;
  int slurm_workers = 16;
  double lease_s = 30;
  double idle_s = std::numeric_limits<double>::infinity();
};

absl::Status Missing(absl::string_view flag) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is missing; see 'tilewrightd --help'"));
}

// This program as a worker, on whichever host Slurm chooses.
SlurmOptions SlurmFrom(const Flags& flags) {
  constexpr char kIdleSeconds[] = "60";
  SlurmOptions options;
  options.name = absl::StrCat("tilewrightd-", geteuid());
  options.command = absl::StrCat(
      ShellWord(std::filesystem::read_symlink("/proc/self/exe").string()),
      " worker --idle=", kIdleSeconds, " --daemon=", ShellWord(flags.slurm));
  if (!flags.slurm_tls.empty())
    absl::StrAppend(&options.command, " --tls=", ShellWord(flags.slurm_tls));
  options.options = absl::StrSplit(flags.slurm_options, ' ', absl::SkipEmpty());
  options.most_workers = flags.slurm_workers;
  return options;
}

absl::Status Adjust(Server& server, SlurmWorkers& slurm) {
  TW_ASSIGN_OR_RETURN(const int64_t waiting, server.WaitingTasks());
  return slurm.Adjust(waiting).status();
}

absl::Status Serve(const Flags& flags) {
  if (flags.listen.empty()) return Missing("--listen=ADDRESS");
  if (flags.state.empty()) return Missing("--state=DIR");
  ServerOptions options;
  options.listen = absl::StrSplit(flags.listen, ',');
  options.tls = UserPath(flags.tls);
  options.state = UserPath(flags.state);
  options.queue.name = RandomName();
  options.queue.lease_ns = static_cast<int64_t>(flags.lease_s * 1e9);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                      Server::Start(options, *RealClock()));
  std::fprintf(stderr, "tilewrightd: listening at %s\n", flags.listen.c_str());
  std::optional<SlurmWorkers> slurm;
  if (!flags.slurm.empty()) slurm.emplace(SlurmFrom(flags));
  constexpr int kPauseUs = 50'000, kPausesOfALook = 40;
  std::string trouble;
  for (int pauses = 0; !g_stop.cancelled(); ++pauses) {
    if (slurm && pauses % kPausesOfALook == 0) {
      const std::string before = std::exchange(
          trouble, std::string(Adjust(*server, *slurm).message()));
      if (!trouble.empty() && trouble != before)
        std::fprintf(stderr, "tilewrightd: %s\n", trouble.c_str());
    }
    usleep(kPauseUs);
  }
  return absl::OkStatus();
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return absl::StrCat(name, ".", getpid());
}

absl::Status Work(const Flags& flags) {
  if (flags.daemon.empty()) return Missing("--daemon=ADDRESS");
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                      ConnectTo(flags.daemon, UserPath(flags.tls)));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<FileLock> device,
                      LockDevice("cpu"));
  TW_ASSIGN_OR_RETURN(
      const DeviceSpec spec,
      flags.threads > 0 ? HostSpecWithCores(flags.threads) : HostSpec());
  const int cores =
      std::clamp(static_cast<int>(spec.unit().cores()), 1, kMostWorkers);
  WorkerOptions options;
  options.name = flags.name.empty() ? HostName() : flags.name;
  options.most_idle_s = flags.idle_s;
  measure::Record& made = options.made;
  made.mutable_device()->set_spec(spec.name());
  made.mutable_device()->set_structure_fingerprint(
      StructureFingerprint(spec).ToString());
  made.mutable_versions()->set_code_generation(kCodeGeneration);
  measure::ProcessPoolOptions processes;
  processes.backend = "cpu";
  processes.workers = processes.builders = processes.cores = cores;
  processes.method.set_cache(measure::Method::WARM);
  // Its records are shared: nobody else verifies them.
  processes.verify = true;
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::ProcessPool> pool,
                      measure::ProcessPool::Create(processes));
  measure::ParallelMeasurer measurer(
      pool.get(), measure::ParallelMeasurerOptions::ForCores(cores));
  std::fprintf(stderr, "tilewrightd: worker %s measures on %s\n",
               options.name.c_str(), spec.name().c_str());
  return RunWorker(options, channel, measurer, *RealClock(), g_stop);
}

absl::Status OnJobs(const std::string& command, const Flags& flags,
                    const std::vector<std::string>& arguments) {
  if (flags.daemon.empty()) return Missing("--daemon=ADDRESS");
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                      ConnectTo(flags.daemon, UserPath(flags.tls)));
  if (command == "cancel") return CancelJobs(channel, arguments);
  if (command == "export") {
    if (flags.records.empty()) return Missing("--records=DB");
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Store> store,
                        measure::Store::Open(UserPath(flags.records)));
    TW_ASSIGN_OR_RETURN(const measure::AddedRecords added,
                        ExportRecords(channel, *store));
    std::printf("%lld records added, %lld were there\n",
                static_cast<long long>(added.added),
                static_cast<long long>(added.present));
    return absl::OkStatus();
  }
  TW_ASSIGN_OR_RETURN(const std::string table, JobTable(channel));
  std::fputs(table.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Dispatch(const std::string& command, const Flags& flags,
                      const std::vector<std::string>& arguments) {
  if (command != "cancel" && !arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", command, "' takes no argument ", arguments[0]));
  }
  StopOnSignals();
  if (command == "serve") return Serve(flags);
  if (command == "worker") return Work(flags);
  return OnJobs(command, flags, arguments);
}

int Main(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "--help" : arguments[0];
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kUsage, stdout);
    return arguments.empty() ? 2 : 0;
  }
  const absl::Status known =
      CheckChoice(command, {"serve", "worker", "jobs", "cancel", "export"});
  Flags flags;
  OptionParser parser(command, "see 'tilewrightd --help'");
  parser.Text("tls", &flags.tls);
  if (command == "serve") {
    parser.Text("listen", &flags.listen);
    parser.Text("state", &flags.state);
    parser.Number("lease", &flags.lease_s, 0.1, 86400);
    parser.Text("slurm", &flags.slurm);
    parser.Text("slurm-tls", &flags.slurm_tls);
    parser.Text("slurm-options", &flags.slurm_options);
    parser.Number("slurm-workers", &flags.slurm_workers, 1, 10'000);
  } else {
    parser.Text("daemon", &flags.daemon);
  }
  if (command == "worker") {
    parser.Text("name", &flags.name);
    parser.Number("threads", &flags.threads, 1);
    parser.Number("idle", &flags.idle_s, 0, 1e9);
  }
  if (command == "export") parser.Text("records", &flags.records);
  const absl::StatusOr<std::vector<std::string>> rest =
      parser.Parse(absl::MakeConstSpan(arguments).subspan(1));
  if (!known.ok() || !rest.ok()) {
    ReportStatus("tilewrightd", known.ok() ? rest.status() : known);
    return 2;
  }
  return ReportStatus(
      "tilewrightd",
      CatchExceptions(absl::StrCat("running '", command, "'"),
                      [&] { return Dispatch(command, flags, *rest); }));
}

}  // namespace
}  // namespace tilewright::daemon

int main(int argc, char** argv) {
  tilewright::measure::RunWorkerIfAsked(argc, argv,
                                        {tilewright::cpu::CpuWorker()});
  return tilewright::daemon::Main(
      std::vector<std::string>(argv + 1, argv + argc));
}
