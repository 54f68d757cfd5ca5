// How near to the rules' schedules a search comes that does not know them:
// without_rules [OPTIONS] FILE...
//
// Prints one row a workload and policy: medians over seeds of the rules' time
// over that of the best candidate after so many trials, both measured
// interleaved.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/measuring/named_workload.h"
#include "bench/measuring/workload_main.h"
#include "bench/search/live_search.h"
#include "bench/search/scheme.h"
#include "compiler/kernels/group_workload.h"
#include "measure/machine/fma_peak.h"
#include "measure/machine/memory_peak.h"
#include "measure/stats/median.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kBeyondCaches = int64_t{256} << 20;

struct Flags {
  std::string policies = "rules,sketch,template";
  std::string scheme = "evolution";
  int seeds = 5;
  int first_seed = 0;
  bool verbose = false;
  LiveSearchOptions search;
};

double RooflineNs(const NamedWorkload& named, double gflops, double gbytes) {
  return std::max(
      static_cast<double>(CountFlops(named.workload.graph)) / gflops,
      static_cast<double>(CompulsoryBytes(named.workload.graph)) / gbytes);
}

double MedianOf(std::vector<double> values) {
  return values.empty() ? std::nan("") : measure::Median(std::move(values));
}

// Says on stderr what a seed's run found, for whoever wants to know why.
void PrintRun(const NamedWorkload& named, const std::string& policy, int seed,
              const LiveSearch& run) {
  std::fprintf(stderr,
               "%s, %s, seed %d: %d trials, %d failed, %.1f s (%.1f searching)",
               named.name.c_str(), policy.c_str(), seed, run.trials, run.failed,
               run.wall_s, run.search_s);
  for (const double ns : run.best_ns) std::fprintf(stderr, ", %.1f", ns / 1e3);
  std::fprintf(stderr, " us; rules %.1f\n%s\n", run.rules_ns / 1e3,
               run.best.c_str());
}

absl::Status SearchOne(const NamedWorkload& named, const std::string& policy,
                       const Scheme& scheme, double roofline_ns,
                       const Flags& flags, measure::WorkerPool* pool) {
  TW_ASSIGN_OR_RETURN(const sketch::Generator generator,
                      GeneratorOf(policy, named));
  std::vector<double> rules_ns, wall_s, searching, failed, trials;
  std::vector<std::vector<double>> speeds(flags.search.checkpoints.size());
  for (int seed = flags.first_seed; seed < flags.first_seed + flags.seeds;
       ++seed) {
    TW_ASSIGN_OR_RETURN(
        const LiveSearch run,
        SearchLive(named, generator, scheme, static_cast<uint64_t>(seed),
                   flags.search, pool));
    if (flags.verbose) PrintRun(named, policy, seed, run);
    rules_ns.push_back(run.rules_ns);
    wall_s.push_back(run.wall_s);
    searching.push_back(100 * run.search_s / run.wall_s);
    failed.push_back(100.0 * run.failed / run.trials);
    trials.push_back(run.trials);
    for (size_t i = 0; i < speeds.size(); ++i)
      speeds[i].push_back(100 * run.rules_ns / run.best_ns[i]);
  }
  std::printf("| %s | %s | %.1f | %.0f |", named.name.c_str(), policy.c_str(),
              MedianOf(rules_ns) / 1e3, 100 * roofline_ns / MedianOf(rules_ns));
  for (const std::vector<double>& of_seeds : speeds)
    std::printf(" %.0f |", MedianOf(of_seeds));
  std::printf(" %.0f to %.0f | %.0f | %.0f | %.0f | %.0f |\n",
              *std::min_element(speeds.back().begin(), speeds.back().end()),
              *std::max_element(speeds.back().begin(), speeds.back().end()),
              MedianOf(trials), MedianOf(wall_s), MedianOf(searching),
              MedianOf(failed));
  std::fflush(stdout);
  return absl::OkStatus();
}

void PrintHead(const Flags& flags, double gflops, double gbytes) {
  std::printf(
      "%s, one thread, batches of %d, medians of %d seeds; %.0f GFLOP/s, "
      "%.0f GB/s\n\n| workload | policy | rules us | %% of the roofline |",
      flags.scheme.c_str(), flags.search.batch, flags.seeds, gflops, gbytes);
  for (const int trials : flags.search.checkpoints)
    std::printf(" %d trials: %% of the rules' speed |", trials);
  std::printf(
      " over seeds | trials | s | %% searching | %% failed |\n|---|---|");
  for (size_t i = 0; i < flags.search.checkpoints.size() + 7; ++i)
    std::printf("---|");
  std::printf("\n");
  std::fflush(stdout);
}

absl::Status Run(const Flags& flags, const std::vector<std::string>& files) {
  TW_ASSIGN_OR_RETURN(const Scheme scheme, ParseScheme(flags.scheme));
  measure::ProcessPoolOptions options = OneThreadPool();
  options.cores = 2;
  TW_ASSIGN_OR_RETURN(const auto pool, measure::ProcessPool::Create(options));
  measure::FmaPeak peak(/*threads=*/1);
  measure::MemoryPeak memory(/*threads=*/1, kBeyondCaches);
  const double gflops = peak.Best(), gbytes = memory.Sample(0.3);
  PrintHead(flags, gflops, gbytes);
  const std::vector<std::string> policies = absl::StrSplit(flags.policies, ',');
  for (const std::string& file : files) {
    TW_ASSIGN_OR_RETURN(const NamedWorkload named, ReadWorkload(file));
    for (const std::string& policy : policies) {
      const absl::Status status =
          SearchOne(named, policy, scheme, RooflineNs(named, gflops, gbytes),
                    flags, pool.get());
      if (!status.ok()) {
        std::printf("| %s | %s | %s |\n", named.name.c_str(), policy.c_str(),
                    std::string(status.message()).c_str());
      }
    }
  }
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "[--policies=rules,sketch,template] [--scheme=METHOD:WORD...] "
    "[--trials=N] [--seconds=S] [--batch=N] [--seeds=N] [--first_seed=N] "
    "[--checkpoints=N,N...] [--turns=N] [--verbose]";

int Main(int argc, char** argv) {
  Flags flags;
  OptionParser options;
  options.Text("policies", &flags.policies);
  options.Text("scheme", &flags.scheme);
  options.Number("trials", &flags.search.trials, 1);
  options.Number("seconds", &flags.search.seconds, 0.0);
  options.Number("batch", &flags.search.batch, 1);
  options.Number("seeds", &flags.seeds, 1);
  options.Number("first_seed", &flags.first_seed, 0);
  options.List("checkpoints", &flags.search.checkpoints, 1);
  options.Number("turns", &flags.search.turns, 1);
  options.Flag("verbose", &flags.verbose);
  return RunOnFiles(
      argc, argv, "without_rules", kUsage, options,
      [&](const std::vector<std::string>& files) { return Run(flags, files); });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
