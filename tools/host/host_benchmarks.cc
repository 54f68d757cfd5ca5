#include "tools/host/host_benchmarks.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/device/thread_pool.h"
#include "measure/machine/peak_loops.h"
#include "tools/host/experiments.h"
#include "tools/host/retention.h"

extern char** environ;

namespace tilewright::tools {
namespace {

using benchmark::Counter;
using benchmark::State;
using Registered = benchmark::internal::Benchmark;

constexpr char kRate[] = "rate";
constexpr int64_t kSmallestSet = 4096;
// Below, waiting for the last stores is most of it.
constexpr int64_t kSmallestStream = 1 << 16;
constexpr int64_t kSmallestMemorySet = int64_t{64} << 20;
constexpr int64_t kLargestMemorySet = int64_t{1} << 30;
constexpr int64_t kBytesPerIteration = int64_t{1} << 18;
constexpr int64_t kLoadsPerIteration = 1000;

std::string ThreadsText(int threads) {
  return threads == 1 ? "1_thread" : absl::StrCat(threads, "_threads");
}

double Rate(const HostBenchmarks::Run& run) {
  return run.counters.at(kRate).value;
}
double CpuNs(const HostBenchmarks::Run& run) {
  return run.cpu_accumulated_time / static_cast<double>(run.iterations) * 1e9;
}
double WallNs(const HostBenchmarks::Run& run) {
  return run.real_accumulated_time / static_cast<double>(run.iterations) * 1e9;
}

// One thread is timed by its CPU time, several by the wall clock.
Registered* OnThreads(Registered* benchmark, int threads) {
  if (threads > 1) benchmark->Threads(threads)->UseRealTime();
  return benchmark;
}

// 4 KiB, 6 KiB, 8 KiB, ..., without the odd steps where `coarse`.
std::vector<int64_t> SetSizes(int64_t largest, bool coarse) {
  std::vector<int64_t> sizes;
  for (int64_t size = kSmallestSet; size <= largest; size *= 2) {
    sizes.push_back(size);
    if (!coarse && size / 2 * 3 <= largest) sizes.push_back(size / 2 * 3);
  }
  return sizes;
}

// The working set of all threads together, far beyond the caches.
int64_t MemorySetBytes(const DeviceSpec& structure) {
  int64_t largest = 0;
  for (const MemoryLevel& level : structure.levels()) {
    if (level.kind() == MemoryLevel::CACHE) {
      largest = std::max(largest, level.capacity_bytes() * level.instances());
    }
  }
  return std::min(kLargestMemorySet, std::max(kSmallestMemorySet, 4 * largest));
}

// Threads that meet.
class Barrier {
 public:
  void Wait(int threads) {
    const int64_t round = round_;
    if (++inside_ == threads) {
      inside_ = 0;
      ++round_;
      return;
    }
    while (round_ == round) {
    }
  }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int64_t> round_{0};
};

}  // namespace

HostBenchmarks::HostBenchmarks(const DeviceSpec& structure, int threads,
                               HostFacts* facts)
    : structure_(structure), facts_(facts) {
  facts->threads = threads;
  facts->instructions = measure::AllMemoryLoops().front().instructions;
  memory_bytes_ = MemorySetBytes(structure);
  memory_ = measure::AllocateTouched(memory_bytes_);
  AddPeaks(1);
  if (threads > 1) AddPeaks(threads);
  AddBandwidths(1);
  if (threads > 1) AddBandwidths(threads);
  AddLatencies();
  AddRetention();
  AddCosts(threads);
  AddExperiments(threads);
}

void HostBenchmarks::Take(const Run& run) {
  if (run.error_occurred || run.run_type != Run::RT_Iteration) return;
  const auto taker = takers_.find(run.run_name.function_name);
  if (taker != takers_.end()) taker->second(run);
}

template <typename Entry>
void HostBenchmarks::Expect(const std::string& name, std::vector<Entry>* list,
                            Entry entry, double Entry::*field,
                            bool larger_is_better, Figure figure) {
  takers_[name] = [=, index = size_t{0},
                   added = false](const Run& run) mutable {
    if (!added) {
      index = list->size();
      list->push_back(entry);
      (*list)[index].*field = figure(run);
      added = true;
      return;
    }
    double& best = (*list)[index].*field;
    best = larger_is_better ? std::max(best, figure(run))
                            : std::min(best, figure(run));
  };
}

void HostBenchmarks::AddPeaks(int threads) {
  for (const measure::PeakLoop& loop : measure::PeakLoops()) {
    const std::string name =
        absl::StrCat("peak/", loop.dtype, "/", ThreadsText(threads));
    OnThreads(benchmark::RegisterBenchmark(
                  name.c_str(),
                  [loop](State& state) {
                    float sum = 0;
                    for (auto _ : state) sum += loop.batch();
                    benchmark::DoNotOptimize(sum);
                    state.counters[kRate] =
                        Counter(loop.ops_per_batch *
                                    static_cast<double>(state.iterations()),
                                Counter::kIsRate);
                  }),
              threads);
    Expect(name, &facts_->peaks,
           HostFacts::Peak{loop.dtype, loop.instructions, threads, 0},
           &HostFacts::Peak::ops_per_s, true, Rate);
  }
}

void HostBenchmarks::AddBandwidths(int threads) {
  const measure::MemoryLoops loops = measure::AllMemoryLoops().front();
  const std::pair<const char*, measure::MemoryPass> passes[] = {
      {"read", loops.read},
      {"write", loops.write},
      {"copy", loops.copy},
      {"stream", loops.stream}};
  for (const auto& [loop, pass] : passes) {
    const bool coarse = pass != loops.read;
    for (const int64_t bytes : SetSizes(memory_bytes_, coarse)) {
      if (pass == loops.stream && bytes < kSmallestStream) continue;
      const int64_t part = bytes / threads / 512 * 512;
      const std::string name = absl::StrCat("bandwidth/", loop, "/", bytes, "/",
                                            ThreadsText(threads));
      OnThreads(
          benchmark::RegisterBenchmark(
              name.c_str(),
              [this, pass = pass, part](State& state) {
                char* const mine = memory_.get() + state.thread_index() * part;
                const int64_t passes =
                    std::max<int64_t>(1, kBytesPerIteration / part);
                chase_bytes_ = 0;            // it may be overwritten
                int sum = pass(mine, part);  // warm
                for (auto _ : state) {
                  for (int64_t i = 0; i < passes; ++i) sum |= pass(mine, part);
                }
                benchmark::DoNotOptimize(sum);
                state.counters[kRate] = Counter(
                    static_cast<double>(passes * part * state.iterations()),
                    Counter::kIsRate, Counter::kIs1024);
              }),
          threads);
      Expect(name, &facts_->bandwidths,
             HostFacts::Bandwidth{loop, threads, bytes, 0},
             &HostFacts::Bandwidth::bytes_per_s, true, Rate);
    }
  }
}

void HostBenchmarks::AddLatencies() {
  for (const int64_t bytes : SetSizes(memory_bytes_, /*coarse=*/false)) {
    const std::string name = absl::StrCat("latency/", bytes);
    benchmark::RegisterBenchmark(name.c_str(), [this, bytes](State& state) {
      // A circle stays in memory from one call to the next of the same size.
      if (chase_bytes_.exchange(bytes) != bytes) {
        measure::PrepareChase(memory_.get(), bytes, /*seed=*/1);
      }
      const char* at = measure::Chase(memory_.get(), bytes / 64);  // warm
      for (auto _ : state) at = measure::Chase(at, kLoadsPerIteration);
      benchmark::DoNotOptimize(at);
    });
    Expect(name, &facts_->latencies, HostFacts::Latency{bytes, 0},
           &HostFacts::Latency::ns, false, [](const Run& run) {
             return CpuNs(run) / static_cast<double>(kLoadsPerIteration);
           });
  }
}

void HostBenchmarks::AddRetention() {
  benchmark::RegisterBenchmark(
      "retention",
      [this](State& state) {
        for (auto _ : state)
          facts_->retentions =
              RetentionsOf(structure_, memory_.get(), memory_bytes_);
        state.counters["half_ms"] = RetentionNs(facts_->retentions) / 1e6;
      })
      ->Iterations(1)
      ->Repetitions(1);
}

void HostBenchmarks::AddCost(const std::string& name, const std::string& what,
                             Registered* benchmark, double per_iteration) {
  benchmark->UseRealTime();
  Expect(
      absl::StrCat("cost/", name), &facts_->costs,
      HostFacts::Cost{name, what, 0}, &HostFacts::Cost::ns, false,
      [per_iteration](const Run& run) { return WallNs(run) / per_iteration; });
}

void HostBenchmarks::AddCosts(int threads) {
  const auto add = [this](const char* name, const std::string& what,
                          void (*once)()) {
    AddCost(name, what,
            benchmark::RegisterBenchmark(absl::StrCat("cost/", name).c_str(),
                                         [once](State& state) {
                                           for (auto _ : state) once();
                                         }));
  };
  AddCost("launch",
          absl::StrCat("a kernel of ", threads, " tasks that do nothing, on ",
                       threads, " threads"),
          benchmark::RegisterBenchmark("cost/launch", [threads](State& state) {
            cpu::ThreadPool pool(threads);
            const cpu::ThreadPool::Body nothing = [](int64_t, int64_t, int) {};
            for (auto _ : state) pool.Run(threads, nothing);
          }));
  if (threads > 1) {
    auto barrier = std::make_shared<Barrier>();
    AddCost("barrier", absl::StrCat(threads, " threads meet"),
            benchmark::RegisterBenchmark("cost/barrier", [barrier, threads](
                                                             State& state) {
              for (auto _ : state) barrier->Wait(threads);
            })->Threads(threads));
  }
  add("thread", "start a thread and wait for its end",
      [] { std::thread([] {}).join(); });
  add("fork", "fork a process and wait for its end", [] {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status;
    waitpid(child, &status, 0);
  });
  add("process", "start this program anew and wait for its end", [] {
    char program[] = "/proc/self/exe", flag[] = "--exit";
    char* const argv[] = {program, flag, nullptr};
    pid_t child;
    if (posix_spawn(&child, program, nullptr, nullptr, argv, environ) == 0) {
      int status;
      waitpid(child, &status, 0);
    }
  });
  add("wall clock", "look at the wall clock", [] {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
  });
  add("cpu clock", "look at the thread's CPU time", [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  });
  const auto resolution = [this](const char* name, const char* what,
                                 clockid_t clock) {
    const std::string full = absl::StrCat("resolution/", name);
    benchmark::RegisterBenchmark(full.c_str(), [clock](State& state) {
      double ns = 0;
      for (auto _ : state) ns = SmallestStepNs(clock);
      state.counters["step_ns"] = ns;
    })->Iterations(1);
    Expect(full, &facts_->costs,
           HostFacts::Cost{absl::StrCat(name, " step"), what, 0},
           &HostFacts::Cost::ns, false,
           [](const Run& run) { return run.counters.at("step_ns").value; });
  };
  resolution("wall clock", "smallest step of the wall clock", CLOCK_MONOTONIC);
  resolution("cpu clock", "smallest step of the thread's CPU time",
             CLOCK_THREAD_CPUTIME_ID);
}

void HostBenchmarks::AddExperiments(int threads) {
  const std::vector<WorkKernel> kernels =
      WorkKernels(structure_, memory_.get(), memory_bytes_);
  for (const WorkKernel& kernel : kernels) {
    for (const auto& [clock, id] :
         {std::pair<const char*, clockid_t>{"cpu", CLOCK_THREAD_CPUTIME_ID},
          {"wall", CLOCK_MONOTONIC}}) {
      const std::string name =
          absl::StrCat("variation/", kernel.name, "/", clock);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [this, kernel, clock = clock, id = id](State& state) {
            HostFacts::Variation curve;
            for (auto _ : state) curve = VariationOf(kernel, clock, id);
            state.counters["cv"] = curve.cv.back();
            facts_->variations.push_back(std::move(curve));
          })
          ->Iterations(1)
          ->Repetitions(1);
    }
  }
  for (const WorkKernel& kernel : kernels) {
    const std::string name = absl::StrCat("interference/", kernel.name);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [this, kernel, threads](State& state) {
          std::vector<HostFacts::Interference> points;
          for (auto _ : state) points = InterferenceOf(kernel, 2 * threads);
          for (const HostFacts::Interference& point : points) {
            state.counters[absl::StrCat("x", point.degree)] =
                point.wall_slowdown;
            facts_->interferences.push_back(point);
          }
        })
        ->Iterations(1)
        ->Repetitions(1);
  }
}

}  // namespace tilewright::tools
