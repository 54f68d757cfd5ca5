// tilewright benchmark MODEL
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/device/task_log.h"
#include "backends/device.h"
#include "backends/spec/host_spec.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "runtime/session.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"
#include "tools/model_io.h"
#include "tools/page/fill_page.h"
#include "tools/page/json.h"
#include "tools/profile/print.h"
#include "tools/profile/profile.h"

namespace tilewright::tools {
namespace {

constexpr int kMinRuns = 5;
constexpr int kMostKernels = 20;  // that --profile prints

double ProcessCpuMs() {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_nsec) * 1e-6;
}

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[std::min(
      sorted.size() - 1,
      static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

struct Latencies {
  std::vector<double> wall_ms, cpu_ms;  // sorted
  std::vector<double> device_ms;        // sorted; by the device's own clock
  // Of device_ms: the sum of what its kernels take, without what lies between.
  bool busy_alone = false;
  int threads = 1, planned_threads = 0;
  double flops = 0;
  double roofline_percent = 0;

  double quoted_ms() const {
    return device_ms.empty() ? wall_ms[0] : device_ms[0];
  }
  double gflops() const { return flops / quoted_ms() * 1e-6; }
};

// Has a clock and memory of its own.
bool IsDevice(const Session& session) {
  return !session.model().device().unified_memory();
}

// The limits of what the model runs on: measured where it is this host, else
// the spec's.
class LimitsOfRun {
 public:
  static absl::StatusOr<LimitsOfRun> Of(const backends::Device& device) {
    LimitsOfRun limits;
    if (!device.unified_memory()) {
      limits.known_ = LimitsOfSpec(
          device.spec(), static_cast<int>(device.spec().unit().cores()));
      return limits;
    }
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
    limits.sampler_.emplace(spec, device.num_threads());
    return limits;
  }
  void Sample() {
    if (sampler_) sampler_->Sample();
  }
  Limits limits() const { return sampler_ ? sampler_->limits() : known_; }
  LimitSampler& sampler() { return *sampler_; }

 private:
  Limits known_;
  std::optional<LimitSampler> sampler_;
};

absl::StatusOr<Latencies> MeasureLatencies(const DrawnRun& run,
                                           LimitsOfRun& limits,
                                           double seconds) {
  Session& session = *run.session;
  Latencies latencies;
  limits.Sample();
  TW_RETURN_IF_ERROR(session.Run(run.from, run.to));
  const int64_t start_ns = RealClock()->WallNs();
  while (static_cast<int>(latencies.wall_ms.size()) < kMinRuns ||
         static_cast<double>(RealClock()->WallNs() - start_ns) <
             seconds * 1e9) {
    const double cpu_before = ProcessCpuMs();
    const int64_t before_ns = RealClock()->WallNs();
    TW_RETURN_IF_ERROR(session.Run(run.from, run.to));
    latencies.wall_ms.push_back(
        static_cast<double>(RealClock()->WallNs() - before_ns) * 1e-6);
    latencies.cpu_ms.push_back(ProcessCpuMs() - cpu_before);
  }
  for (size_t i = 0; IsDevice(session) && i < latencies.wall_ms.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const int64_t ns, session.TimeRun(run.from, run.to));
    latencies.device_ms.push_back(static_cast<double>(ns) * 1e-6);
  }
  std::sort(latencies.wall_ms.begin(), latencies.wall_ms.end());
  std::sort(latencies.cpu_ms.begin(), latencies.cpu_ms.end());
  std::sort(latencies.device_ms.begin(), latencies.device_ms.end());
  limits.Sample();
  const Program& program = session.model().program();
  latencies.busy_alone = session.model().device().timer_method() ==
                         backends::TimerMethod::kProfilerActivity;
  const Work work = WorkOfModel(program);
  latencies.threads = session.model().device().num_threads();
  latencies.planned_threads = program.planned_threads();
  latencies.flops = work.flops;
  latencies.roofline_percent =
      BoundOf(work, ResidentBytes(program), limits.limits()).us /
      latencies.quoted_ms() * 0.1;
  return latencies;
}

void Append(const Latencies& latencies, Json& json) {
  json.Key("min_ms").Number(latencies.wall_ms[0]);
  json.Key("median_ms").Number(Quantile(latencies.wall_ms, 0.5));
  json.Key("p90_ms").Number(Quantile(latencies.wall_ms, 0.9));
  json.Key("p99_ms").Number(Quantile(latencies.wall_ms, 0.99));
  json.Key("cpu_ms").Number(latencies.cpu_ms[0]);
  if (!latencies.device_ms.empty()) {
    json.Key("device_min_ms").Number(latencies.device_ms[0]);
    json.Key("device_median_ms").Number(Quantile(latencies.device_ms, 0.5));
  }
  json.Key("gflops").Number(latencies.gflops());
  json.Key("roofline_percent").Number(latencies.roofline_percent);
  json.Key("threads").Int(latencies.threads);
  json.Key("planned_threads").Int(latencies.planned_threads);
  json.Key("runs").Int(static_cast<int64_t>(latencies.wall_ms.size()));
}

void Print(const Latencies& latencies) {
  std::printf(
      "%zu runs on %d threads: min %.3f ms, median %.3f, p90 %.3f, p99 %.3f; "
      "CPU %.3f ms\n",
      latencies.wall_ms.size(), latencies.threads, latencies.wall_ms[0],
      Quantile(latencies.wall_ms, 0.5), Quantile(latencies.wall_ms, 0.9),
      Quantile(latencies.wall_ms, 0.99), latencies.cpu_ms[0]);
  const bool by_device = !latencies.device_ms.empty();
  if (by_device)
    std::printf(
        "%s the device, without copies of inputs and outputs: min %.3f ms, "
        "median %.3f\n",
        latencies.busy_alone ? "kernels on" : "on", latencies.device_ms[0],
        Quantile(latencies.device_ms, 0.5));
  std::printf("%.3f GFLOP, %.1f GFLOP/s, %.0f %% of the roofline %s\n",
              latencies.flops * 1e-9, latencies.gflops(),
              latencies.roofline_percent,
              by_device ? "of the device's spec" : "measured in this run");
}

bool WantsProfile(const CommandLine& line) {
  return line.Has("profile") || line.Has("trace") || line.Has("report");
}

// Trace and page, where asked for.
absl::Status WriteProfile(const CommandLine& line, const std::string& path,
                          const Profile& profile) {
  const std::string title = TitleOf(path);
  if (line.Has("trace")) {
    TW_RETURN_IF_ERROR(WriteFileAtomically(UserPath(line.Get("trace")),
                                           ProfileTrace(profile, title)));
  }
  if (line.Has("report")) {
    TW_RETURN_IF_ERROR(WriteFileAtomically(UserPath(line.Get("report")),
                                           ProfilePage(profile, title)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  cpu::TaskLog log;
  TW_ASSIGN_OR_RETURN(const Source source, LoadSource(line, path, {}, &log));
  if (line.Has("trace") && !source.model->device().unified_memory())
    return Usage(absl::StrCat("--trace has no effect on ",
                              source.model->program().target(),
                              ", whose tasks the host does not see"));
  TellPlannedForFewer(source);
  TW_ASSIGN_OR_RETURN(
      const DrawnRun run,
      DrawRun(source.model, static_cast<uint64_t>(line.GetInt("seed", 0))));

  const double seconds = line.GetDouble("seconds", 3);
  TW_ASSIGN_OR_RETURN(LimitsOfRun limits,
                      LimitsOfRun::Of(source.model->device()));
  TW_ASSIGN_OR_RETURN(const Latencies latencies,
                      MeasureLatencies(run, limits, seconds));
  std::optional<Profile> profile;
  if (WantsProfile(line)) {
    TW_ASSIGN_OR_RETURN(
        profile, IsDevice(*run.session)
                     ? MeasureDeviceProfile(*run.session, run.from, run.to,
                                            limits.limits(), seconds)
                     : MeasureProfile(*run.session, run.from, run.to, log,
                                      limits.sampler(), seconds));
  }
  if (line.Has("json")) {
    Json json;
    json.Open('{');
    Append(latencies, json);
    json.Key("denormals_flushed").Bool(source.flush_denormals);
    if (profile) AppendProfile(*profile, json.Key("profile"));
    std::printf("%s\n", json.Close('}').text().c_str());
  } else {
    Print(latencies);
    if (line.Has("profile")) {
      const int kernels = line.Get("profile") == "all"
                              ? std::numeric_limits<int>::max()
                              : kMostKernels;
      std::printf("\n%s", ProfileTable(*profile, kernels).c_str());
    }
  }
  return profile ? WriteProfile(line, path, *profile) : absl::OkStatus();
}

}  // namespace tilewright::tools
