// tilewrightd: the tuning daemon, and its workers.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/allocation.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/kernels/version.h"
#include "measure/parallel/measurer.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "measure/record/store.h"
#include "measure/worker/cpu/cpu_worker.h"
#include "measure/worker/pool/process_pool.h"
#include "measure/worker/run_worker.h"
#include "tools/daemon/client.h"
#include "tools/daemon/file_lock.h"
#include "tools/daemon/job_commands.h"
#include "tools/daemon/models/child_program.h"
#include "tools/daemon/models/model_commands.h"
#include "tools/daemon/serve/serve.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

constexpr char kUsage[] =
    "usage: tilewrightd COMMAND ...\n\n"
    "  tilewrightd serve --listen=ADDRESS[,ADDRESS] --state=DIR\n"
    "      keep the queue of jobs in DIR\n"
    "      --web=127.0.0.1:PORT: a page of what goes on, and /metrics\n"
    "      --log=FILE: events as lines of JSON; '-' is standard error\n"
    "      --models [--tilewright=PROGRAM] [--model-mib=N]: clients may "
    "submit\n"
    "      models, which are tuned and compiled here\n"
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
    "  tilewrightd export --daemon=ADDRESS --records=DB "
    "[--workload=FINGERPRINT]\n"
    "      add the records of all jobs to DB; what is there already is left "
    "out\n"
    "  tilewrightd submit --daemon=ADDRESS MODEL.onnx [--trials=N] "
    "[--time=SECONDS]\n"
    "                     [--priority=N] [--wait]\n"
    "      a model that the daemon tunes and compiles for its own CPU\n"
    "  tilewrightd models --daemon=ADDRESS\n"
    "  tilewrightd withdraw --daemon=ADDRESS MODEL\n"
    "  tilewrightd fetch --daemon=ADDRESS MODEL --output=OUT.tw\n\n"
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
  ServeFlags serve;
  std::string tls, daemon, name, records, workload, output;
  int threads = 0;
  ModelOrder order;
  bool wait = false;
  double idle_s = std::numeric_limits<double>::infinity();
};

absl::Status Missing(absl::string_view flag) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is missing; see 'tilewrightd --help'"));
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return absl::StrCat(name, ".", getpid());
}

// Processes that measure on this CPU, started when they are first asked for.
class CpuMeasurers {
 public:
  explicit CpuMeasurers(int cores) : cores_(cores) {}

  absl::StatusOr<measure::Measurer*> For(measure::Method::Cache cache) {
    One& one = by_cache_[cache];
    if (one.measurer != nullptr) return one.measurer.get();
    measure::ProcessPoolOptions processes;
    processes.backend = "cpu";
    processes.workers = processes.builders = processes.cores = cores_;
    processes.wait_for_steady_core = true;
    processes.method.set_cache(cache);
    // Its records are shared: nobody else verifies them.
    processes.verify = true;
    TW_ASSIGN_OR_RETURN(one.pool, measure::ProcessPool::Create(processes));
    one.measurer = std::make_unique<measure::ParallelMeasurer>(
        one.pool.get(), measure::ParallelMeasurerOptions::ForCores(cores_));
    return one.measurer.get();
  }

 private:
  struct One {
    std::unique_ptr<measure::ProcessPool> pool;
    std::unique_ptr<measure::Measurer> measurer;
  };
  const int cores_;
  std::map<measure::Method::Cache, One> by_cache_;
};

absl::Status Work(const Flags& flags,
                  const std::shared_ptr<grpc::Channel>& channel) {
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
  CpuMeasurers measurers(cores);
  TW_RETURN_IF_ERROR(measurers.For(measure::Method::WARM).status());
  std::fprintf(stderr, "tilewrightd: worker %s measures on %s\n",
               options.name.c_str(), spec.name().c_str());
  return RunWorker(
      options, channel,
      [&](measure::Method::Cache cache) { return measurers.For(cache); },
      *RealClock(), g_stop);
}

absl::Status OnJobs(const std::string& command, const Flags& flags,
                    const std::shared_ptr<grpc::Channel>& channel,
                    const std::vector<std::string>& arguments) {
  if (command == "cancel") return CancelJobs(channel, arguments);
  if (command == "export") {
    if (flags.records.empty()) return Missing("--records=DB");
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Store> store,
                        measure::Store::Open(UserPath(flags.records)));
    QueryRequest which;
    which.set_workload(flags.workload);
    TW_ASSIGN_OR_RETURN(const measure::AddedRecords added,
                        ExportRecords(channel, which, *store));
    std::printf("%lld records added, %lld were there\n",
                static_cast<long long>(added.added),
                static_cast<long long>(added.present));
    return absl::OkStatus();
  }
  TW_ASSIGN_OR_RETURN(const std::string table, JobTable(channel));
  std::fputs(table.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Submit(const Flags& flags,
                    const std::shared_ptr<grpc::Channel>& channel,
                    const std::string& path) {
  ModelOrder order = flags.order;
  order.path = UserPath(path);
  TW_ASSIGN_OR_RETURN(ModelState state, SubmitModel(channel, order));
  const auto id = static_cast<long long>(state.id());
  std::printf("model %lld\n", id);
  std::fflush(stdout);
  if (!flags.wait) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(state, WaitForModel(channel, state.id(), g_stop));
  if (state.state() != ModelState::DONE) {
    return absl::FailedPreconditionError(
        absl::StrCat("model ", id, ": ", state.message()));
  }
  std::printf("%s\n", state.message().c_str());
  return absl::OkStatus();
}

absl::Status OnModels(const std::string& command, const Flags& flags,
                      const std::shared_ptr<grpc::Channel>& channel,
                      const std::vector<std::string>& arguments) {
  if (command == "models") {
    TW_ASSIGN_OR_RETURN(const std::string table, ModelTable(channel));
    std::fputs(table.c_str(), stdout);
    return absl::OkStatus();
  }
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", command, "' takes one model"));
  }
  if (command == "submit") return Submit(flags, channel, arguments[0]);
  int64_t id = 0;
  const absl::Status number = ParseNumber(arguments[0], 1, 1e15, &id);
  if (!number.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", arguments[0], "' is no model's number"));
  }
  if (command == "withdraw") return CancelModel(channel, id).status();
  if (flags.output.empty()) return Missing("--output=OUT.tw");
  return FetchModel(channel, id, UserPath(flags.output));
}

bool IsOnModels(const std::string& command) {
  return command == "submit" || command == "models" || command == "fetch" ||
         command == "withdraw";
}

absl::Status Dispatch(const std::string& command, const Flags& flags,
                      const std::vector<std::string>& arguments) {
  if (command != "cancel" && !IsOnModels(command) && !arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", command, "' takes no argument ", arguments[0]));
  }
  StopOnSignals();
  if (command == "serve") {
    ServeFlags serve = flags.serve;
    serve.tls = flags.tls;
    return Serve(serve, g_stop);
  }
  if (flags.daemon.empty()) return Missing("--daemon=ADDRESS");
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                      ConnectTo(flags.daemon, UserPath(flags.tls)));
  if (command == "worker") return Work(flags, channel);
  if (IsOnModels(command)) return OnModels(command, flags, channel, arguments);
  return OnJobs(command, flags, channel, arguments);
}

void AddServeOptions(OptionParser& parser, ServeFlags& flags) {
  parser.Text("listen", &flags.listen);
  parser.Text("state", &flags.state);
  parser.Number("lease", &flags.lease_s, 0.1, 86400);
  parser.Text("log", &flags.log);
  parser.Text("web", &flags.web);
  parser.Flag("models", &flags.models);
  parser.Text("tilewright", &flags.tilewright);
  parser.Number("model-mib", &flags.model_mib, 1, 2047);
  parser.Text("slurm", &flags.slurm);
  parser.Text("slurm-tls", &flags.slurm_tls);
  parser.Text("slurm-options", &flags.slurm_options);
  parser.Number("slurm-workers", &flags.slurm_workers, 1, 10'000);
}

int Main(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "--help" : arguments[0];
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kUsage, stdout);
    return arguments.empty() ? 2 : 0;
  }
  const absl::Status known =
      CheckChoice(command, {"serve", "worker", "jobs", "cancel", "export",
                            "submit", "models", "withdraw", "fetch"});
  Flags flags;
  OptionParser parser(command, "see 'tilewrightd --help'");
  parser.Text("tls", &flags.tls);
  if (command == "serve") {
    AddServeOptions(parser, flags.serve);
  } else {
    parser.Text("daemon", &flags.daemon);
  }
  if (command == "worker") {
    parser.Text("name", &flags.name);
    parser.Number("threads", &flags.threads, 1);
    parser.Number("idle", &flags.idle_s, 0, 1e9);
  }
  if (command == "export") {
    parser.Text("records", &flags.records);
    parser.Text("workload", &flags.workload);
  }
  if (command == "submit") {
    parser.Number("trials", &flags.order.trials, 1);
    parser.Number("time", &flags.order.seconds, 1, 86400);
    parser.Number("priority", &flags.order.priority, -1000, 1000);
    parser.Flag("wait", &flags.wait);
  }
  if (command == "fetch") {
    parser.Text("output", &flags.output);
    parser.Alias('o', "output");
  }
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
  tilewright::daemon::RunChildIfAsked(argc, argv);
  tilewright::measure::RunWorkerIfAsked(argc, argv,
                                        {tilewright::cpu::CpuWorker()});
  return tilewright::daemon::Main(
      std::vector<std::string>(argv + 1, argv + argc));
}
