#include "tools/commands/fusion_measuring.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/worker/pool/process_pool.h"
#include "tilegraph/plan/plan.h"

namespace tilewright::tools {
namespace {

// A fusion has so many candidates at a time.
constexpr int kMostWorkers = 6;
// Kernels of milliseconds: fewer executions than usual tell whether one saves a
// few percent. Verifying needs none.
constexpr int kRepeats = 100;
constexpr int kRepeatsVerifying = 10;
// The size up to which the binary is read.
constexpr int64_t kMostBinaryBytes = int64_t{4} << 30;
constexpr double kSecondsBetweenLines = 10;
constexpr double kSecondsBetweenUpdates = 0.2;  // of a line on a terminal

// A key of all that a kernel of a group depends on beside the group: this
// binary, the device with its threads, and what is allowed. Empty where a
// person's decisions, or a neighbour's, may say something else.
std::string MakerOf(const CommandLine& line, const DeviceSpec& planned) {
  if (line.Has("decisions") || line.Has("nearest")) return "";
  const absl::StatusOr<std::string> binary =
      ReadFile("/proc/self/exe", kMostBinaryBytes);
  if (!binary.ok()) return "";
  Fingerprinter maker;
  maker.AddString(*binary).AddString(planned.SerializeAsString());
  for (const std::string& allowed : line.All("allow")) maker.AddString(allowed);
  return maker.Finish().ToString();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FusionMeasuring>> FusionMeasuring::From(
    const CommandLine& line, const DeviceSpec& spec, const DeviceSpec& planned,
    CompileOptions& options) {
  if (!line.Has("records") ||
      options.plan.connect != PlanOptions::Connect::kTileGraph)
    return nullptr;
  measure::StoreOptions how;
  how.read_only = !line.Has("measure");
  TW_ASSIGN_OR_RETURN(std::unique_ptr<measure::Store> store,
                      measure::Store::Open(UserPath(line.Get("records")), how));
  std::unique_ptr<FusionMeasuring> measuring(new FusionMeasuring(
      std::move(store), spec, MakerOf(line, planned), line));
  options.times = &measuring->times_;
  return measuring;
}

KernelTimesOptions FusionMeasuring::TimesOptions(std::string maker) {
  KernelTimesOptions options;
  options.store = store_.get();
  options.maker = std::move(maker);
  options.most_seconds = most_seconds_;
  if (!measures_) return options;
  options.on_progress = [this] { Report(/*last=*/false); };
  options.measurer = [this] { return Measurer(kRepeats); };
  options.verifier = [this] { return Measurer(kRepeatsVerifying); };
  return options;
}

FusionMeasuring::FusionMeasuring(std::unique_ptr<measure::Store> store,
                                 const DeviceSpec& spec, std::string maker,
                                 const CommandLine& line)
    : store_(std::move(store)),
      workers_(
          std::clamp(static_cast<int>(spec.unit().cores()), 1, kMostWorkers)),
      most_seconds_(line.Get("measure").empty() ? kMeasuringSeconds
                                                : line.GetDouble("measure", 0)),
      measures_(line.Has("measure")),
      times_(spec, TimesOptions(std::move(maker))),
      quiet_(line.Has("json")),
      start_ns_(RealClock()->WallNs()),
      reported_ns_(start_ns_) {}

absl::StatusOr<measure::Measurer*> FusionMeasuring::Measurer(int max_repeats) {
  if (pool_ == nullptr) {
    measure::ProcessPoolOptions options;
    options.backend = "cpu";
    options.workers = options.builders = workers_;
    options.wait_for_steady_core = true;
    options.method.set_threads(1);
    options.method.set_cache(measure::Method::WARM);
    TW_ASSIGN_OR_RETURN(pool_, measure::ProcessPool::Create(options));
  }
  auto how = measure::ParallelMeasurerOptions::ForCores(workers_);
  how.repeats.max_repeats = max_repeats;
  how.repeats.micro_batch = 10;
  how.repeats.threshold = 0.03;
  measurers_.push_back(
      std::make_unique<measure::ParallelMeasurer>(pool_.get(), how));
  return measurers_.back().get();
}

void FusionMeasuring::Report(bool last) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const int64_t now_ns = RealClock()->WallNs();
  const double since_s = 1e-9 * static_cast<double>(now_ns - reported_ns_);
  if (quiet_ || (!last && since_s < (terminal ? kSecondsBetweenUpdates
                                              : kSecondsBetweenLines)))
    return;
  reported_ns_ = now_ns;
  const double spent_s = 1e-9 * static_cast<double>(now_ns - start_ns_);
  const std::string text = absl::StrFormat(
      "measuring: %d kernels measured, %d known from the records, %d without a "
      "time, %d fused groups compared interleaved; %.0f s of at most %.0f",
      times_.measured(), times_.recorded(), times_.failed(),
      times_.interleaved(), spent_s, most_seconds_);
  std::fprintf(stderr, terminal ? "\r%s\033[K%s" : "%s%s", text.c_str(),
               terminal && !last ? "" : "\n");
}

void FusionMeasuring::Finish() {
  if (measures_) {
    Report(/*last=*/true);
  } else if (!quiet_) {
    std::fprintf(stderr,
                 "fusions by records: times of %d kernels known, of %d not\n",
                 times_.recorded(), times_.failed());
  }
  if (!times_.trouble().ok())
    std::fprintf(stderr, "tilewright: warning: %s\n",
                 std::string(times_.trouble().message()).c_str());
}

}  // namespace tilewright::tools
