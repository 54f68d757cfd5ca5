#include "tools/gpu/gpu_report.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/parallel/parallel_measurer.h"
#include "tools/gpu/loaded_kernel.h"
#include "tools/gpu/stream_pool.h"
#include "tools/gpu/time_launches.h"

namespace tilewright::cuda {
namespace {

absl::StatusOr<std::vector<double>> Sample(backends::Device* device,
                                           LoadedKernel& kernel, int samples) {
  return TimeLaunches(
      device, kernel.stream(), [&] { return kernel.Launch(); }, samples);
}

}  // namespace

absl::StatusOr<KernelTimes> TimeKernel(backends::Device* device,
                                       const backends::DeviceModule& module,
                                       const CheckKernel& kernel, int samples) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<LoadedKernel> loaded,
                      LoadedKernel::Load(device, module, kernel));
  TW_RETURN_IF_ERROR(loaded->Launch());
  KernelTimes times;
  TW_ASSIGN_OR_RETURN(times.error, loaded->WorstError());
  TW_ASSIGN_OR_RETURN(const std::vector<double> ns,
                      Sample(device, *loaded, samples));
  times.median_ns = Median(ns);
  times.min_ns = *std::min_element(ns.begin(), ns.end());
  return times;
}

absl::StatusOr<std::map<int, double>> SlowdownByDegree(
    backends::Device* device, const backends::DeviceModule& module,
    const CheckKernel& kernel, const std::vector<int>& degrees, int samples) {
  std::map<int, double> slowdowns;
  double alone = 0;
  for (const int degree : degrees) {
    std::vector<std::unique_ptr<LoadedKernel>> loaded;
    for (int i = 0; i < degree; ++i) {
      TW_ASSIGN_OR_RETURN(auto one, LoadedKernel::Load(device, module, kernel));
      loaded.push_back(std::move(one));
    }
    std::vector<absl::StatusOr<std::vector<double>>> found(
        static_cast<size_t>(degree), absl::UnknownError("did not run"));
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < loaded.size(); ++i) {
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < degree) std::this_thread::yield();
        found[i] = Sample(device, *loaded[i], samples);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<double> all;
    for (const auto& ns : found) {
      if (!ns.ok()) return ns.status();
      all.insert(all.end(), ns->begin(), ns->end());
    }
    const double median = Median(std::move(all));
    if (slowdowns.empty()) alone = median;
    slowdowns[degree] = median / alone;
  }
  return slowdowns;
}

absl::StatusOr<std::vector<ModeResult>> CompareModes(
    backends::Device* device, const backends::DeviceModule& module,
    const std::vector<CheckKernel>& family, int repeats, int workers) {
  using measure::MeasureMode;
  measure::WorkloadKey workload;
  workload.set_text(family.front().family);
  workload.set_fingerprint(Fingerprint::Of(workload.text()).ToString());
  std::vector<sketch::ScheduleProto> schedules;
  for (size_t i = 0; i < family.size(); ++i) {
    schedules.push_back(StreamPool::ScheduleOf(static_cast<int>(i)));
  }
  std::vector<ModeResult> results;
  std::vector<double> serial_ns;
  for (const auto& [name, mode] :
       {std::pair("serial", MeasureMode::kSerial),
        std::pair("serial again", MeasureMode::kSerial),
        std::pair("naive", MeasureMode::kNaive),
        std::pair("precise", MeasureMode::kPrecise)}) {
    measure::ParallelMeasurerOptions options;
    options.mode = mode;
    options.naive_degree = workers;
    options.repeats = measure::AdaptiveEvaluatorOptions::Fixed(repeats);
    StreamPool pool(device, &module, family, workers);
    measure::ParallelMeasurer measurer(&pool, options);
    const int64_t start_ns = RealClock()->WallNs();
    TW_ASSIGN_OR_RETURN(const std::vector<measure::Measurement> measured,
                        measurer.Measure(workload, schedules));
    ModeResult result;
    result.mode = name;
    result.seconds =
        static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9;
    size_t best = 0;
    std::vector<double> ns;
    for (const measure::Measurement& one : measured) {
      const bool good = one.outcome() == measure::Measurement::OK;
      result.failed += !good;
      ns.push_back(good ? one.latency().median_ns() : 1e300);
      if (ns.back() < ns[best]) best = ns.size() - 1;
    }
    if (serial_ns.empty()) serial_ns = ns;
    result.best = family[best].name;
    result.best_worse = serial_ns[best] / *std::min_element(serial_ns.begin(),
                                                            serial_ns.end()) -
                        1;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace tilewright::cuda
