// The measurements of tilewright_bench, as benchmarks of Google Benchmark: its
// filters, repetitions and formats work on them.
#ifndef TILEWRIGHT_TOOLS_HOST_HOST_BENCHMARKS_H_
#define TILEWRIGHT_TOOLS_HOST_HOST_BENCHMARKS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "benchmark/benchmark.h"
#include "measure/machine/memory_loops.h"
#include "tools/host/host_facts.h"

namespace tilewright::tools {

class HostBenchmarks {
 public:
  using Run = benchmark::BenchmarkReporter::Run;

  // Registers all of them: peaks, bandwidths, latencies, retention and costs,
  // variation and interference, for one thread and for `threads`. `structure`
  // says how large the caches are; `facts` gets what the runs find.
  HostBenchmarks(const DeviceSpec& structure, int threads, HostFacts* facts);

  // For a reporter: of several repetitions the best counts.
  void Take(const Run& run);

 private:
  // The figure that a run gives for one entry of the facts.
  using Figure = std::function<double(const Run&)>;
  // The best value of `figure` goes to `field` of an entry that is added with
  // the first one.
  template <typename Entry>
  void Expect(const std::string& name, std::vector<Entry>* list, Entry entry,
              double Entry::*field, bool larger_is_better, Figure figure);
  void AddPeaks(int threads);
  void AddBandwidths(int threads);
  void AddLatencies();
  void AddRetention();
  void AddCosts(int threads);
  void AddCost(const std::string& name, const std::string& what,
               benchmark::internal::Benchmark* benchmark,
               double per_iteration = 1);
  void AddExperiments(int threads);

  const DeviceSpec structure_;
  HostFacts* const facts_;
  std::unique_ptr<char, measure::FreeMemory> memory_;
  int64_t memory_bytes_ = 0;
  std::atomic<int64_t> chase_bytes_{0};  // the circle that is in memory
  std::map<std::string, std::function<void(const Run&)>> takers_;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_HOST_BENCHMARKS_H_
