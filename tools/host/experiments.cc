#include "tools/host/experiments.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "measure/machine/memory_loops.h"
#include "measure/machine/peak_loops.h"
#include "measure/parallel/adaptive_evaluator.h"

namespace tilewright::tools {
namespace {

using measure::AdaptiveEvaluator;
using measure::AdaptiveEvaluatorOptions;

constexpr int kRepeats = 500;
constexpr int kMicroBatch = 10;
constexpr int kRounds = 3;
constexpr double kWindowNs = 20e6;
constexpr int64_t kMemoryReadBytes = int64_t{4} << 20;
// A store to it keeps results alive.
std::atomic<float> sink{0};

double NowNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return 1e9 * static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec);
}

AdaptiveEvaluatorOptions NeverStops(int repeats) {
  AdaptiveEvaluatorOptions options;
  options.max_repeats = repeats;
  options.micro_batch = kMicroBatch;
  options.threshold = 0;
  return options;
}

struct PerExecution {
  double cpu_ns = std::numeric_limits<double>::infinity();
  double wall_ns = std::numeric_limits<double>::infinity();
};

// `degree` threads at the same time; the mean over what they ran.
PerExecution RunTogether(const WorkKernel& kernel, int degree) {
  std::atomic<int> ready{0};
  std::mutex mutex;
  double cpu_ns = 0, wall_ns = 0, executions = 0;
  const auto work = [&](int thread) {
    kernel.run(thread);  // warm
    ++ready;
    while (ready < degree) std::this_thread::yield();
    const double cpu = NowNs(CLOCK_THREAD_CPUTIME_ID);
    const double start = NowNs(CLOCK_MONOTONIC);
    double now = start, done = 0;
    while (now - start < kWindowNs) {
      kernel.run(thread);
      ++done;
      now = NowNs(CLOCK_MONOTONIC);
    }
    std::lock_guard<std::mutex> lock(mutex);
    cpu_ns += NowNs(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall_ns += now - start;
    executions += done;
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < degree; ++thread) {
    others.emplace_back(work, thread);
  }
  work(0);
  for (std::thread& other : others) other.join();
  return {cpu_ns / executions, wall_ns / executions};
}

}  // namespace

std::vector<WorkKernel> WorkKernels(const DeviceSpec& structure, char* memory,
                                    int64_t memory_bytes) {
  const measure::PeakLoop peak = measure::PeakLoops().front();
  const measure::MemoryPass read = measure::AllMemoryLoops().front().read;
  std::vector<WorkKernel> kernels;
  kernels.push_back({peak.dtype, [peak](int) { sink = peak.batch(); }});
  const auto add = [&](const std::string& name, int64_t bytes, int64_t passes) {
    const int64_t part = bytes / 512 * 512;
    const int parts =
        static_cast<int>(std::max<int64_t>(1, memory_bytes / part));
    kernels.push_back({name, [=](int thread) {
                         char* const mine = memory + thread % parts * part;
                         int sum = 0;
                         for (int64_t i = 0; i < passes; ++i) {
                           sum |= read(mine, part);
                         }
                         sink = static_cast<float>(sum);
                       }});
  };
  for (int i = structure.levels_size() - 1; i >= 0; --i) {
    const MemoryLevel& level = structure.levels(i);
    if (level.kind() != MemoryLevel::CACHE) continue;
    // A shared cache: so much of it that two threads still fit.
    const int64_t bytes = level.scope() == MemoryLevel::CORE
                              ? level.capacity_bytes() / 2
                              : level.capacity_bytes() / 8;
    add(level.name(), bytes, std::max<int64_t>(1, kMemoryReadBytes / bytes));
  }
  // Each execution reads what was driven out since: parts of memory in turn.
  const int64_t parts = std::max<int64_t>(1, memory_bytes / kMemoryReadBytes);
  auto next = std::make_shared<std::atomic<int64_t>>(0);
  kernels.push_back({"dram", [=](int) {
                       const int64_t part = next->fetch_add(1) % parts;
                       sink = static_cast<float>(
                           read(memory + part * kMemoryReadBytes,
                                std::min(kMemoryReadBytes, memory_bytes)));
                     }});
  return kernels;
}

HostFacts::Variation VariationOfLatencies(
    const std::string& kernel, const std::string& clock_name,
    const std::vector<double>& latencies_ns) {
  HostFacts::Variation curve{kernel, clock_name, {}, {}};
  AdaptiveEvaluator evaluator(
      NeverStops(static_cast<int>(latencies_ns.size())));
  size_t used = 0;
  while (const int repeats = evaluator.NextRepeats()) {
    TW_CHECK_OK(evaluator.Add(absl::MakeConstSpan(
        latencies_ns.data() + used, static_cast<size_t>(repeats))));
    used += static_cast<size_t>(repeats);
    curve.repeats.push_back(static_cast<int>(used));
    curve.cv.push_back(evaluator.variation());
  }
  return curve;
}

HostFacts::Variation VariationOf(const WorkKernel& kernel,
                                 const std::string& clock_name,
                                 clockid_t clock) {
  std::vector<double> latencies_ns;
  for (int i = 0; i < kRepeats; ++i) {
    const double start = NowNs(clock);
    kernel.run(0);
    latencies_ns.push_back(NowNs(clock) - start);
  }
  return VariationOfLatencies(kernel.name, clock_name, latencies_ns);
}

std::vector<HostFacts::Interference> InterferenceOf(const WorkKernel& kernel,
                                                    int most) {
  std::vector<PerExecution> best(static_cast<size_t>(most));
  for (int round = 0; round < kRounds; ++round) {
    for (int degree = 1; degree <= most; ++degree) {
      const PerExecution now = RunTogether(kernel, degree);
      PerExecution& known = best[static_cast<size_t>(degree - 1)];
      known.cpu_ns = std::min(known.cpu_ns, now.cpu_ns);
      known.wall_ns = std::min(known.wall_ns, now.wall_ns);
    }
  }
  std::vector<HostFacts::Interference> points;
  for (int degree = 1; degree <= most; ++degree) {
    const PerExecution& here = best[static_cast<size_t>(degree - 1)];
    points.push_back({kernel.name, degree, here.cpu_ns / best[0].cpu_ns,
                      here.wall_ns / best[0].wall_ns});
  }
  return points;
}

double SmallestStepNs(clockid_t clock) {
  double smallest = std::numeric_limits<double>::infinity();
  double last = NowNs(clock);
  for (int look = 0; look < 20000; ++look) {
    const double now = NowNs(clock);
    if (now > last) smallest = std::min(smallest, now - last);
    last = now;
  }
  return smallest;
}

}  // namespace tilewright::tools
