#include "tools/gpu/hand_written_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tools/gpu/gpu_report.h"

namespace tilewright::cuda {
namespace {

constexpr int kDegree = 16;

using Times = std::map<std::string, KernelTimes>;

absl::StatusOr<Times> TimeAll(const HandWritten& on, int samples) {
  Times times;
  for (const CheckKernel& kernel : on.kernels) {
    TW_ASSIGN_OR_RETURN(times[kernel.name],
                        TimeKernel(on.device, *on.module, kernel, samples));
  }
  return times;
}

int PrintTimes(const std::vector<CheckKernel>& kernels, const Times& events,
               const Times& records) {
  std::printf(
      "\n| kernel | what | events us | records us | ratio | GFLOP/s | GB/s | "
      "error |\n|---|---|---|---|---|---|---|---|\n");
  int wrong = 0;
  for (const CheckKernel& kernel : kernels) {
    const KernelTimes& by_events = events.at(kernel.name);
    const auto found = records.find(kernel.name);
    const KernelTimes& best =
        found != records.end() ? found->second : by_events;
    const double error = std::max(by_events.error, best.error);
    wrong += !(error <= 1);
    std::printf("| %s | %s | %.2f | %.2f | %.3f | %.0f | %.0f | %s%.2g |\n",
                kernel.name.c_str(), kernel.size.c_str(),
                by_events.median_ns * 1e-3, best.median_ns * 1e-3,
                by_events.median_ns / best.median_ns,
                kernel.flops / best.median_ns, kernel.bytes / best.median_ns,
                error <= 1 ? "" : "WRONG: ", error);
  }
  return wrong;
}

absl::Status PrintSlowdowns(const HandWritten& on, int samples) {
  const std::vector<int> degrees = {1, 2, 4, 8, kDegree};
  std::printf(
      "\nTime of a launch against alone, by streams that launch the same "
      "kernel:\n\n| kernel |");
  for (const int degree : degrees) std::printf(" %d |", degree);
  std::printf("\n|---|---|---|---|---|---|\n");
  int index = 0;
  for (const CheckKernel& kernel : on.kernels) {
    // Every fifth, and none that takes much memory sixteen times.
    if (index++ % 5 != 0 || kernel.bytes > 1e8) continue;
    TW_ASSIGN_OR_RETURN(
        const auto slowdowns,
        SlowdownByDegree(on.device, *on.module, kernel, degrees, samples));
    std::printf("| %s |", kernel.name.c_str());
    for (const int degree : degrees)
      std::printf(" %.2f |", slowdowns.at(degree));
    std::printf("\n");
  }
  return absl::OkStatus();
}

absl::Status PrintModes(const HandWritten& on, int repeats) {
  std::map<std::string, std::vector<CheckKernel>> families;
  for (const CheckKernel& kernel : on.kernels) {
    families[kernel.family].push_back(kernel);
  }
  std::printf(
      "\nAll kernels of a family as candidates, %d workers, %d repeats:\n\n"
      "| family | mode | seconds | saved %% | failed | chose | worse %% |\n"
      "|---|---|---|---|---|---|---|\n",
      kDegree, repeats);
  for (const auto& [family, kernels] : families) {
    TW_ASSIGN_OR_RETURN(
        const std::vector<ModeResult> results,
        CompareModes(on.device, *on.module, kernels, repeats, kDegree));
    for (const ModeResult& result : results) {
      std::printf("| %s | %s | %.3f | %.1f | %d | %s | %.1f |\n",
                  family.c_str(), result.mode.c_str(), result.seconds,
                  100 * (1 - result.seconds / results.front().seconds),
                  result.failed, result.best.c_str(), 100 * result.best_worse);
    }
  }
  return absl::OkStatus();
}

// Of the fastest of the copies that move most.
double CopyRate(const std::vector<CheckKernel>& kernels, const Times& times) {
  double most_bytes = 0, rate = 0;
  for (const CheckKernel& kernel : kernels) {
    if (kernel.family != "copy") continue;
    const double here = kernel.bytes / times.at(kernel.name).median_ns;
    if (kernel.bytes > most_bytes) rate = 0;
    most_bytes = std::max(most_bytes, kernel.bytes);
    if (kernel.bytes == most_bytes) rate = std::max(rate, here);
  }
  return rate;
}

}  // namespace

absl::StatusOr<HandWrittenResult> CheckHandWritten(const HandWritten& events,
                                                   const HandWritten& records,
                                                   int samples, bool modes) {
  TW_ASSIGN_OR_RETURN(const Times by_events, TimeAll(events, samples));
  Times by_records;
  if (records.device != nullptr) {
    TW_ASSIGN_OR_RETURN(by_records, TimeAll(records, samples));
  }
  HandWrittenResult result;
  result.wrong = PrintTimes(events.kernels, by_events, by_records);
  result.copy_bytes_per_ns =
      CopyRate(events.kernels, by_records.empty() ? by_events : by_records);
  const HandWritten& on = records.device != nullptr ? records : events;
  TW_RETURN_IF_ERROR(PrintSlowdowns(on, samples));
  if (modes) TW_RETURN_IF_ERROR(PrintModes(on, samples));
  return result;
}

}  // namespace tilewright::cuda
