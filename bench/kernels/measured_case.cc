#include "bench/kernels/measured_case.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/ort/timing.h"
#include "measure/machine/fma_peak.h"
#include "measure/machine/memory_peak.h"
#include "measure/machine/steady_core.h"

namespace tilewright::bench {
namespace {

constexpr double kWindowSeconds = 0.05;
// Long enough to see in /proc/stat who else ran.
constexpr double kSharedWindowSeconds = 0.2;
// The pools of other libraries spin after a run; so long after it nothing of
// ours is measured.
constexpr double kSpinSeconds = 1;

struct TimedWindow {
  std::vector<double> us;     // of every run
  std::vector<bool> quiet;    // the same
  double control_gflops = 0;  // before it
};

// The runs of the windows that count; of those the quiet ones if there are any.
// Where no window counts all do.
Times TimesOf(const std::vector<TimedWindow>& windows,
              const std::function<bool(const TimedWindow&)>& counts) {
  Times all, counted, quiet;
  for (const TimedWindow& window : windows) {
    for (size_t i = 0; i < window.us.size(); ++i) {
      all.us.push_back(window.us[i]);
      if (!counts(window)) continue;
      counted.us.push_back(window.us[i]);
      if (window.quiet[i]) quiet.us.push_back(window.us[i]);
    }
  }
  return !quiet.empty() ? quiet : !counted.empty() ? counted : all;
}

// A peer's kernel for this case, or null.
struct Rival {
  std::unique_ptr<PeerKernel> kernel;
  std::vector<TimedWindow> windows;
};

class Measurement {
 public:
  Measurement(const Case& one, OwnCase& own, ControlTile* control,
              const MeasureOptions& options)
      : one_(one),
        own_(own),
        control_(control),
        options_(options),
        core_(measure::SteadyCore::OfThisThread()),
        window_seconds_(options.threads == 1 ? kWindowSeconds
                                             : kSharedWindowSeconds),
        fma_peak_(options.threads, options.most_vector_bytes),
        memory_peak_(options.threads,
                     static_cast<int64_t>(CompulsoryBytes(one.op))) {}

  absl::StatusOr<Measured> Run(
      const std::vector<std::unique_ptr<Peer>>& peers) {
    for (const std::unique_ptr<Peer>& peer : peers) {
      absl::StatusOr<std::unique_ptr<PeerKernel>> kernel =
          peer->Prepare(one_.op);
      if (!kernel.ok() && !absl::IsUnimplemented(kernel.status()))
        return kernel.status();
      rivals_.emplace_back();
      if (kernel.ok()) rivals_.back().kernel = *std::move(kernel);
    }
    const int rounds =
        std::max(2, static_cast<int>(options_.seconds / window_seconds_));
    TW_RETURN_IF_ERROR(Round(true));
    for (int round = 0; round < rounds; ++round)
      TW_RETURN_IF_ERROR(Round(false));
    return Finish();
  }

 private:
  absl::Status Round(bool warm_up) {
    result_.fma_gflops = std::max(result_.fma_gflops, fma_peak_.Sample());
    result_.memory_gbytes_per_s =
        std::max(result_.memory_gbytes_per_s, memory_peak_.Sample());
    result_.memcpy_gbytes_per_s =
        std::max(result_.memcpy_gbytes_per_s, memory_peak_.SampleMemcpy());
    double control = 0;
    if (control_ != nullptr) {
      TW_ASSIGN_OR_RETURN(control, control_->Sample());
      result_.control_gflops = std::max(result_.control_gflops, control);
    }
    TW_ASSIGN_OR_RETURN(TimedWindow window,
                        RunWindow([&] { return own_.RunNs(); }));
    window.control_gflops = control;
    if (!warm_up) windows_.push_back(std::move(window));
    for (Rival& rival : rivals_) {
      if (rival.kernel != nullptr) TW_RETURN_IF_ERROR(RunRival(rival, warm_up));
    }
    if (options_.threads > 1 && !rivals_.empty())
      usleep(static_cast<useconds_t>(kSpinSeconds * 1e6));
    return absl::OkStatus();
  }

  absl::StatusOr<TimedWindow> RunWindow(
      const std::function<absl::StatusOr<int64_t>()>& run_ns) {
    TimedWindow timed;
    TW_ASSIGN_OR_RETURN(
        Window window,
        MeasureWindow(
            [&]() -> absl::Status {
              TW_ASSIGN_OR_RETURN(const int64_t ns, run_ns());
              timed.us.push_back(static_cast<double>(ns) * 1e-3);
              return absl::OkStatus();
            },
            window_seconds_, options_.threads == 1 ? &core_ : nullptr));
    timed.quiet = std::move(window.quiet);
    return timed;
  }

  absl::Status RunRival(Rival& rival, bool warm_up) {
    Clock* const clock = RealClock();
    const auto now_ns = [&] {
      return options_.threads == 1 ? clock->ThreadCpuNs() : clock->WallNs();
    };
    TW_ASSIGN_OR_RETURN(TimedWindow window,
                        RunWindow([&]() -> absl::StatusOr<int64_t> {
                          const int64_t start_ns = now_ns();
                          TW_RETURN_IF_ERROR(rival.kernel->Run());
                          return now_ns() - start_ns;
                        }));
    if (!warm_up) rival.windows.push_back(std::move(window));
    return absl::OkStatus();
  }

  absl::StatusOr<Measured> Finish() {
    const auto counts = [&](const TimedWindow& window) {
      if (control_ == nullptr) return window.quiet.front();
      return window.control_gflops >= ControlTile::kEnough * result_.fma_gflops;
    };
    result_.windows = static_cast<int>(windows_.size());
    result_.counted = static_cast<int>(
        std::count_if(windows_.begin(), windows_.end(), counts));
    result_.own = TimesOf(windows_, counts);
    for (Rival& rival : rivals_) {
      Times times =
          TimesOf(rival.windows, [](const TimedWindow&) { return true; });
      if (rival.kernel != nullptr) {
        TW_ASSIGN_OR_RETURN(std::vector<double> own_times,
                            rival.kernel->OwnTimesUs());
        if (!own_times.empty()) times.us = std::move(own_times);
      }
      result_.peers.push_back(std::move(times));
    }
    return std::move(result_);
  }

  const Case& one_;
  OwnCase& own_;
  ControlTile* const control_;
  const MeasureOptions options_;
  measure::SteadyCore core_;
  const double window_seconds_;
  measure::FmaPeak fma_peak_;
  measure::MemoryPeak memory_peak_;
  std::vector<Rival> rivals_;
  std::vector<TimedWindow> windows_;
  Measured result_;
};

}  // namespace

double Times::min() const { return *std::min_element(us.begin(), us.end()); }

double Times::median() const {
  std::vector<double> sorted = us;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

Shares Measured::SharesOf(const Operator& op) const {
  const double ns = own.min() * 1e3;
  const double gflops = Flops(op) / ns, gbytes_per_s = CompulsoryBytes(op) / ns;
  Shares shares;
  shares.peak = gflops / fma_gflops;
  shares.roofline = std::max(shares.peak, gbytes_per_s / memory_gbytes_per_s);
  shares.memcpy = gbytes_per_s / memcpy_gbytes_per_s;
  return shares;
}

absl::StatusOr<Measured> MeasureCase(
    const Case& one, OwnCase& own, ControlTile* control,
    const std::vector<std::unique_ptr<Peer>>& peers,
    const MeasureOptions& options) {
  return Measurement(one, own, control, options).Run(peers);
}

}  // namespace tilewright::bench
