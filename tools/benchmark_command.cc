// tilewright benchmark MODEL
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "runtime/session.h"
#include "tools/commands.h"
#include "tools/json.h"
#include "tools/model_io.h"
#include "tools/model_source.h"

namespace tilewright::tools {
namespace {

constexpr int kMinRuns = 5;

double ProcessCpuMs() {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Work {
  double flops = 0;
  double bytes = 0;
};

Work CountWork(const Program& program) {
  Work work;
  for (const Step& step : program.steps()) {
    if (!step.has_launch()) continue;
    work.flops +=
        static_cast<double>(program.kernels(step.launch().kernel()).flops());
    work.bytes += static_cast<double>(
        program.kernels(step.launch().kernel()).compulsory_bytes());
  }
  return work;
}

// The least time the spec's committed figures allow: compute or memory, kernel
// by kernel counted once.
double RooflineMs(const Work& work, const DeviceSpec& spec, int threads) {
  const double peak = CorePeak(spec, "f32", PeakRate::VECTOR) * threads;
  const MemoryLevel& memory = spec.levels(0);
  const double bandwidth =
      threads > 1 && memory.aggregate_read_bytes_per_s() > 0
          ? memory.aggregate_read_bytes_per_s()
          : memory.read_bytes_per_s();
  return 1e3 * std::max(peak > 0 ? work.flops / peak : 0,
                        bandwidth > 0 ? work.bytes / bandwidth : 0);
}

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[std::min(
      sorted.size() - 1,
      static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

struct Boundary {
  std::vector<HostTensor> inputs, outputs;
  std::vector<const void*> from;
  std::vector<void*> to;
};

absl::Status PrintProfile(Session& session, Boundary& boundary, bool as_json) {
  const Program& program = session.model().program();
  std::vector<double> best_ms(program.steps_size(), 1e300);
  for (int run = 0; run < 10; ++run) {
    int64_t last_ns = RealClock()->WallNs();
    TW_RETURN_IF_ERROR(
        session.RunSteps(boundary.from, boundary.to, [&](int step) {
          const int64_t now_ns = RealClock()->WallNs();
          best_ms[step] = std::min(
              best_ms[step], static_cast<double>(now_ns - last_ns) * 1e-6);
          last_ns = RealClock()->WallNs();
        }));
  }
  Json json;
  json.Open('[');
  if (!as_json)
    std::printf("\n%-6s %10s %10s %10s  %s\n", "kernel", "ms", "GFLOP/s",
                "GB/s", "computes");
  for (int i = 0; i < program.steps_size(); ++i) {
    const Step& step = program.steps(i);
    if (step.has_zero() &&
        i + 1 < program.steps_size()) {  // counts for the launch it prepares
      best_ms[i + 1] += best_ms[i];
      continue;
    }
    KernelInfo info;
    info.set_name("copy");
    if (step.has_launch()) info = program.kernels(step.launch().kernel());
    const double gflops = static_cast<double>(info.flops()) / best_ms[i] * 1e-6,
                 gbytes = static_cast<double>(info.compulsory_bytes()) /
                          best_ms[i] * 1e-6;
    if (!as_json)
      std::printf("%-6s %10.4f %10.1f %10.1f  %s\n", info.name().c_str(),
                  best_ms[i], gflops, gbytes, info.label().c_str());
    json.Open('{')
        .Key("kernel")
        .Text(info.name())
        .Key("ms")
        .Number(best_ms[i])
        .Key("gflops")
        .Number(gflops)
        .Key("gbytes_per_s")
        .Number(gbytes);
    json.Key("label").Text(info.label()).Close('}');
  }
  if (as_json) std::printf("%s\n", json.Close(']').text().c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  TW_ASSIGN_OR_RETURN(const Source source, LoadSource(line, path));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                      Session::Create(source.model));
  const Program& program = source.model->program();
  Boundary boundary;
  TW_ASSIGN_OR_RETURN(
      boundary.inputs,
      MakeInputs(program, {}, static_cast<uint64_t>(line.GetInt("seed", 0))));
  TW_ASSIGN_OR_RETURN(boundary.outputs, RunOnce(*session, boundary.inputs));
  for (const HostTensor& input : boundary.inputs)
    boundary.from.push_back(input.data());
  for (HostTensor& output : boundary.outputs)
    boundary.to.push_back(output.data());

  const double seconds = line.GetDouble("seconds", 3);
  std::vector<double> wall_ms, cpu_ms;
  const int64_t start_ns = RealClock()->WallNs();
  while (static_cast<int>(wall_ms.size()) < kMinRuns ||
         static_cast<double>(RealClock()->WallNs() - start_ns) <
             seconds * 1e9) {
    const double cpu_before = ProcessCpuMs();
    const int64_t before_ns = RealClock()->WallNs();
    TW_RETURN_IF_ERROR(session->Run(boundary.from, boundary.to));
    wall_ms.push_back(static_cast<double>(RealClock()->WallNs() - before_ns) *
                      1e-6);
    cpu_ms.push_back(ProcessCpuMs() - cpu_before);
  }
  std::sort(wall_ms.begin(), wall_ms.end());
  std::sort(cpu_ms.begin(), cpu_ms.end());
  const int threads = source.model->device().num_threads();
  const Work work = CountWork(program);
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  const double gflops = work.flops / wall_ms[0] * 1e-6,
               roofline_percent =
                   100 * RooflineMs(work, spec, threads) / wall_ms[0];
  if (line.Has("json")) {
    Json json;
    json.Open('{')
        .Key("min_ms")
        .Number(wall_ms[0])
        .Key("median_ms")
        .Number(Quantile(wall_ms, 0.5))
        .Key("p90_ms")
        .Number(Quantile(wall_ms, 0.9));
    json.Key("p99_ms")
        .Number(Quantile(wall_ms, 0.99))
        .Key("cpu_ms")
        .Number(cpu_ms[0])
        .Key("gflops")
        .Number(gflops);
    json.Key("roofline_percent")
        .Number(roofline_percent)
        .Key("threads")
        .Int(threads)
        .Key("runs")
        .Int(static_cast<int64_t>(wall_ms.size()))
        .Close('}');
    std::printf("%s\n", json.text().c_str());
  } else {
    std::printf(
        "%zu runs on %d threads: min %.3f ms, median %.3f, p90 %.3f, p99 %.3f; "
        "CPU %.3f ms\n",
        wall_ms.size(), threads, wall_ms[0], Quantile(wall_ms, 0.5),
        Quantile(wall_ms, 0.9), Quantile(wall_ms, 0.99), cpu_ms[0]);
    std::printf(
        "%.3f GFLOP, %.1f GFLOP/s, %.0f %% of the roofline of the spec's "
        "figures\n",
        work.flops * 1e-9, gflops, roofline_percent);
  }
  return line.Has("profile")
             ? PrintProfile(*session, boundary, line.Has("json"))
             : absl::OkStatus();
}

}  // namespace tilewright::tools
