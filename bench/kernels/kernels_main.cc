// One table per family of operators: how fast each kernel is, as a share of
// what the machine reaches in the same run, and beside other libraries.
//
//   kernels [--family=gemm,conv] [--case=TEXT] [--threads=1] [--seconds=0.5]
//           [--ort=LIB] [--no-peers] [--no-check]
//
// README.md says what is timed. Prints, never asserts, but for wrong results.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/kernels/cases.h"
#include "bench/kernels/own_case.h"
#include "bench/kernels/peer.h"
#include "measure/peak/fma_peak.h"
#include "measure/peak/memory_peak.h"

namespace tilewright::bench {
namespace {

constexpr double kWindowSeconds = 0.05;
// The pools of other libraries spin after a run; so long after it nothing of
// ours is measured.
constexpr double kSpinSeconds = 1;

struct Flags {
  std::vector<std::string> families;  // empty: all
  std::string name;                   // part of the case's name
  int threads = 1;
  double seconds = 0.5;  // for each case and library
  std::string ort;
  bool peers = true;
  bool check = true;
};

absl::StatusOr<Flags> ParseFlags(const std::vector<std::string>& arguments) {
  Flags flags;
  if (const char* ort = std::getenv("TILEWRIGHT_ORT")) flags.ort = ort;
  for (const std::string& argument : arguments) {
    const std::pair<std::string, std::string> flag =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    if (flag.first == "--family") {
      flags.families = absl::StrSplit(flag.second, ',');
    } else if (flag.first == "--case") {
      flags.name = flag.second;
    } else if (flag.first == "--ort") {
      flags.ort = flag.second;
    } else if (flag.first == "--no-peers") {
      flags.peers = false;
    } else if (flag.first == "--no-check") {
      flags.check = false;
    } else if (flag.first == "--threads") {
      if (!absl::SimpleAtoi(flag.second, &flags.threads) || flags.threads < 1)
        return absl::InvalidArgumentError(
            absl::StrCat(argument, ": expected a positive number"));
    } else if (flag.first == "--seconds") {
      if (!absl::SimpleAtod(flag.second, &flags.seconds) || flags.seconds < 0)
        return absl::InvalidArgumentError(
            absl::StrCat(argument, ": expected a number of seconds"));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown argument ", argument,
                       "; expected --family= --case= --threads= --seconds= "
                       "--ort= --no-peers --no-check"));
    }
  }
  return flags;
}

bool Wanted(const Flags& flags, const Case& one) {
  return (flags.families.empty() ||
          std::find(flags.families.begin(), flags.families.end(), one.family) !=
              flags.families.end()) &&
         absl::StrContains(Name(one.op), flags.name);
}

struct Times {
  std::vector<double> us;

  bool empty() const { return us.empty(); }
  double min() const { return *std::min_element(us.begin(), us.end()); }
  double median() const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

template <typename RunNs>
absl::Status RunWindow(const RunNs& run_ns, Times& times) {
  const int64_t end_ns =
      RealClock()->WallNs() + static_cast<int64_t>(kWindowSeconds * 1e9);
  do {
    TW_ASSIGN_OR_RETURN(const int64_t ns, run_ns());
    times.us.push_back(static_cast<double>(ns) * 1e-3);
  } while (RealClock()->WallNs() < end_ns);
  return absl::OkStatus();
}

// A peer with the kernel it prepared for this case, or null.
struct Rival {
  std::unique_ptr<PeerKernel> kernel;
  Times times;
};

absl::Status RunRival(Rival& rival, int threads) {
  Clock* const clock = RealClock();
  const auto now_ns = [&] {
    return threads == 1 ? clock->ThreadCpuNs() : clock->WallNs();
  };
  return RunWindow(
      [&]() -> absl::StatusOr<int64_t> {
        const int64_t start_ns = now_ns();
        TW_RETURN_IF_ERROR(rival.kernel->Run());
        return now_ns() - start_ns;
      },
      rival.times);
}

// What the table's line needs.
struct Measured {
  Times own;
  double peak = 0;  // GFLOP/s or GB/s
  std::vector<Rival> rivals;
};

absl::StatusOr<Measured> Measure(
    const Case& one, OwnCase& own,
    const std::vector<std::unique_ptr<Peer>>& peers, const Flags& flags) {
  Measured measured;
  for (const std::unique_ptr<Peer>& peer : peers) {
    absl::StatusOr<std::unique_ptr<PeerKernel>> kernel = peer->Prepare(one.op);
    if (!kernel.ok() && !absl::IsUnimplemented(kernel.status()))
      return kernel.status();
    measured.rivals.emplace_back();
    if (kernel.ok()) measured.rivals.back().kernel = *std::move(kernel);
  }
  measure::FmaPeak fma_peak(flags.threads);
  measure::MemoryPeak memory_peak(
      flags.threads, static_cast<int64_t>(CompulsoryBytes(one.op)));
  const int rounds =
      1 + std::max(1, static_cast<int>(flags.seconds / kWindowSeconds));
  for (int round = 0; round < rounds; ++round) {
    measured.peak =
        std::max(measured.peak,
                 Flops(one.op) > 0 ? fma_peak.Sample() : memory_peak.Sample());
    TW_RETURN_IF_ERROR(RunWindow([&] { return own.RunNs(); }, measured.own));
    if (round == 0) measured.own.us.clear();  // warm up
    for (Rival& rival : measured.rivals) {
      if (rival.kernel == nullptr) continue;
      TW_RETURN_IF_ERROR(RunRival(rival, flags.threads));
      if (round == 0) rival.times.us.clear();
    }
    if (flags.threads > 1 && !measured.rivals.empty())
      usleep(static_cast<useconds_t>(kSpinSeconds * 1e6));
  }
  for (Rival& rival : measured.rivals) {
    if (rival.kernel == nullptr) continue;
    TW_ASSIGN_OR_RETURN(std::vector<double> own_times,
                        rival.kernel->OwnTimesUs());
    if (!own_times.empty()) rival.times.us = std::move(own_times);
  }
  return measured;
}

void PrintHeader(const Case& one, const Flags& flags,
                 const std::vector<std::unique_ptr<Peer>>& peers) {
  std::printf("\n### %s, %d thread%s\n\n", one.family.c_str(), flags.threads,
              flags.threads == 1 ? "" : "s");
  std::string columns = absl::StrCat(
      "| case | us, min | median | ", Flops(one.op) > 0 ? "GFLOP/s" : "GB/s",
      " | of the run's peak | kernels | spills |");
  std::string rule = "|---|---|---|---|---|---|---|";
  for (const std::unique_ptr<Peer>& peer : peers) {
    absl::StrAppend(&columns, " ", peer->name(), " |");
    absl::StrAppend(&rule, "---|");
  }
  std::printf("%s\n%s\n", columns.c_str(), rule.c_str());
}

absl::Status RunCase(const Case& one, const Flags& flags,
                     const std::vector<std::unique_ptr<Peer>>& peers) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<OwnCase> own,
                      OwnCase::Create(CaseModel(one.op), flags.threads));
  if (flags.check) TW_RETURN_IF_ERROR(own->Check());
  TW_ASSIGN_OR_RETURN(const Measured measured,
                      Measure(one, *own, peers, flags));
  const double work =
      Flops(one.op) > 0 ? Flops(one.op) : CompulsoryBytes(one.op);
  const double best_us = measured.own.min(), rate = work / best_us * 1e-3;
  std::string line = absl::StrFormat(
      "| %s | %.1f | %.1f | %.1f | %.0f %% of %.1f | %d | %d |", Name(one.op),
      best_us, measured.own.median(), rate, 100 * rate / measured.peak,
      measured.peak, own->num_kernels(), own->spills());
  for (const Rival& rival : measured.rivals) {
    if (rival.times.empty()) {
      absl::StrAppend(&line, " |");
    } else {
      absl::StrAppendFormat(&line, " %.1f / %.1f: %.2f |", rival.times.min(),
                            rival.times.median(), rival.times.min() / best_us);
    }
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

std::vector<std::unique_ptr<Peer>> OpenPeers(const Flags& flags) {
  std::vector<std::unique_ptr<Peer>> peers;
  if (!flags.peers) return peers;
  const auto add = [&](absl::StatusOr<std::unique_ptr<Peer>> peer) {
    if (peer.ok()) {
      peers.push_back(*std::move(peer));
    } else {
      std::printf("%s.\n", std::string(peer.status().message()).c_str());
    }
  };
  add(OpenOneDnn(flags.threads));
  add(OpenOpenBlas(flags.threads));
  add(OpenOnnxRuntime(flags.ort, flags.threads));
  return peers;
}

int Main(int argc, char** argv) {
  const absl::StatusOr<Flags> flags = ParseFlags({argv + 1, argv + argc});
  if (!flags.ok()) {
    std::fprintf(stderr, "kernels: %s\n",
                 std::string(flags.status().message()).c_str());
    return 2;
  }
  const std::vector<std::unique_ptr<Peer>> peers = OpenPeers(*flags);
  std::printf(
      "Peak: %s multiply-adds in registers, or the best of loops that move as "
      "many bytes. Other libraries: us, min / median: how many times as long "
      "as ours, by the minimum.\n",
      measure::FmaPeakInstructions().c_str());
  bool ok = true;
  std::string family;
  for (const Case& one : Cases()) {
    if (!Wanted(*flags, one)) continue;
    if (one.family != family) PrintHeader(one, *flags, peers);
    family = one.family;
    const absl::Status status = RunCase(one, *flags, peers);
    if (status.ok()) continue;
    std::printf("| %s | %s |\n", Name(one.op).c_str(),
                std::string(status.message()).c_str());
    ok = false;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
