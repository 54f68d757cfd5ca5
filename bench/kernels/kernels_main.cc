// One table per family of operators: how fast each kernel is, as a share of
// what the machine reaches in the same run, and beside other libraries.
//
//   kernels [--family=gemm,conv] [--case=TEXT] [--threads=1] [--seconds=0.5]
//           [--target=x86-64-v3] [--ort=LIB] [--no-peers] [--no-check]
//           [--records=DB] [--write-models=FOLDER]
//
// README.md says what is timed. Prints, never asserts, but for wrong results.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/host_spec.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "bench/kernels/cases.h"
#include "bench/kernels/control_tile.h"
#include "bench/kernels/measured_case.h"
#include "bench/kernels/own_case.h"
#include "bench/kernels/peer.h"
#include "bench/kernels/targets.h"
#include "bench/options/target_class.h"
#include "measure/machine/fma_peak.h"

namespace tilewright::bench {
namespace {

struct Flags {
  std::vector<std::string> families;  // empty: all
  std::string name;                   // part of the case's name
  int threads = 1;
  double seconds = 0.5;  // for each case and library
  TargetClass target;
  std::string ort;
  bool no_peers = false;
  bool no_check = false;
  std::string records;  // of 'tilewright tune'
  std::string models;   // where to write the cases instead of running them
};

absl::StatusOr<Flags> ParseFlags(const std::vector<std::string>& arguments) {
  Flags flags;
  if (const char* ort = std::getenv("TILEWRIGHT_ORT")) flags.ort = ort;
  OptionParser parser;
  parser.Value("family", [&](absl::string_view list) {
    flags.families = absl::StrSplit(list, ',');
    return absl::OkStatus();
  });
  parser.Text("case", &flags.name);
  parser.Text("ort", &flags.ort);
  parser.Value("target", [&](absl::string_view name) {
    const absl::StatusOr<TargetClass> target = ParseTargetClass(ToStd(name));
    if (target.ok()) flags.target = *target;
    return target.status();
  });
  parser.Text("records", &flags.records);
  parser.Text("write-models", &flags.models);
  parser.Flag("no-peers", &flags.no_peers);
  parser.Flag("no-check", &flags.no_check);
  parser.Number("threads", &flags.threads, 1);
  parser.Number("seconds", &flags.seconds, 0);
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> rest,
                      parser.Parse(arguments));
  if (!rest.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("unknown argument ", rest.front()));
  return flags;
}

// Size of the outermost cache; 0: unknown.
int64_t CacheBytes() {
  const absl::StatusOr<DeviceSpec> host = HostSpec();
  int64_t bytes = 0;
  if (!host.ok()) return bytes;
  for (const MemoryLevel& level : host->levels()) {
    if (level.kind() == MemoryLevel::CACHE)
      bytes = std::max<int64_t>(bytes, level.capacity_bytes());
  }
  return bytes;
}

bool Wanted(const Flags& flags, const Case& one) {
  return (flags.families.empty() ||
          std::find(flags.families.begin(), flags.families.end(), one.family) !=
              flags.families.end()) &&
         absl::StrContains(Name(one.op), flags.name);
}

void PrintHeader(const Case& one, const Flags& flags,
                 const std::vector<std::unique_ptr<Peer>>& peers) {
  std::printf("\n### %s, %d thread%s\n\nTarget: %s.\n\n", one.family.c_str(),
              flags.threads, flags.threads == 1 ? "" : "s",
              TargetText(one.family).c_str());
  std::string columns = "| case | us, min | median | ";
  std::string rule = "|---|---|---|---|---|---|---|---|---|";
  absl::StrAppend(&columns,
                  Flops(one.op) > 0 ? "GFLOP/s | of the run's peak |"
                                    : "GB/s | of memcpy |",
                  " of its roofline | target | windows | kernels, spills |");
  for (const std::unique_ptr<Peer>& peer : peers) {
    absl::StrAppend(&columns, " ", peer->name(), " |");
    absl::StrAppend(&rule, "---|");
  }
  std::printf("%s\n%s\n", columns.c_str(), rule.c_str());
}

const char* Text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kMissed:
      return "**missed**";
    default:
      return "";
  }
}

// Where no window counts, the share of what the control reached says more.
std::string PeakText(const Measured& measured, const Shares& shares,
                     int threads) {
  if (threads == 1 && measured.counted == 0) {
    return absl::StrFormat(
        "%.0f %% of the control's %.1f",
        100 * shares.peak * measured.fma_gflops / measured.control_gflops,
        measured.control_gflops);
  }
  return absl::StrFormat("%.0f %% of %.1f", 100 * shares.peak,
                         measured.fma_gflops);
}

absl::Status RunCase(const Case& one, const Flags& flags, ControlTile* control,
                     const std::vector<std::unique_ptr<Peer>>& peers) {
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<OwnCase> own,
      OwnCase::Create(CaseModel(one.op), flags.threads, flags.target));
  if (!flags.no_check) TW_RETURN_IF_ERROR(own->Check());
  TW_ASSIGN_OR_RETURN(
      const Measured measured,
      MeasureCase(one, *own, control, peers,
                  {flags.threads, flags.seconds, flags.target.vector_bytes}));
  const double best_us = measured.own.min();
  Shares shares = measured.SharesOf(one.op);
  for (size_t i = 0; i < peers.size(); ++i) {
    if (peers[i]->name() == kOnnxRuntimeName && !measured.peers[i].empty())
      shares.ort_speed = measured.peers[i].min() / best_us;
  }
  const bool computes = Flops(one.op) > 0;
  const double work = computes ? Flops(one.op) : CompulsoryBytes(one.op);
  std::string line = absl::StrFormat(
      "| %s | %.1f | %.1f | %.1f | %s | %.0f %% | %s | %d of %d | %d, %d |",
      Name(one.op), best_us, measured.own.median(), work / best_us * 1e-3,
      computes ? PeakText(measured, shares, flags.threads)
               : absl::StrFormat("%.0f %% of %.1f", 100 * shares.memcpy,
                                 measured.memcpy_gbytes_per_s),
      100 * shares.roofline, Text(CompareToTarget(one, shares, CacheBytes())),
      measured.counted, measured.windows, own->num_kernels(), own->spills());
  for (const Times& times : measured.peers) {
    if (times.empty()) {
      absl::StrAppend(&line, " |");
    } else {
      absl::StrAppendFormat(&line, " %.1f / %.1f: %.2f |", times.min(),
                            times.median(), times.min() / best_us);
    }
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

// A library that is not installed is left out and said so.
absl::StatusOr<std::vector<std::unique_ptr<Peer>>> OpenPeers(
    const Flags& flags) {
  std::vector<std::unique_ptr<Peer>> peers;
  const auto add = [&](absl::StatusOr<std::unique_ptr<Peer>> peer) {
    if (peer.ok()) {
      peers.push_back(*std::move(peer));
    } else {
      std::printf("%s.\n", std::string(peer.status().message()).c_str());
    }
  };
  if (!flags.records.empty()) {
    TW_ASSIGN_OR_RETURN(peers.emplace_back(),
                        OpenTuned(flags.records, flags.threads, flags.target));
  }
  if (flags.no_peers) return peers;
  LimitPeers(flags.target);
  add(OpenOneDnn(flags.threads));
  add(OpenOpenBlas(flags.threads));
  if (flags.target.limits()) {
    std::printf("%s takes what CPUID offers: left out of --target=%s.\n",
                kOnnxRuntimeName, flags.target.name.c_str());
  } else {
    add(OpenOnnxRuntime(flags.ort, flags.threads));
  }
  return peers;
}

// FOLDER/gemm_512x512x512.onnx
absl::Status WriteModels(const Flags& flags) {
  for (const Case& one : Cases()) {
    if (!Wanted(flags, one)) continue;
    std::string name = absl::StrCat(one.family, "_", Name(one.op));
    for (char& c : name) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    const std::string path = absl::StrCat(flags.models, "/", name, ".onnx");
    TW_RETURN_IF_ERROR(
        WriteFileAtomically(path, CaseModel(one.op).SerializeAsString()));
    std::printf("%s\n", path.c_str());
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const absl::StatusOr<Flags> flags = ParseFlags({argv + 1, argv + argc});
  if (!flags.ok()) {
    std::fprintf(stderr, "kernels: %s\n",
                 std::string(flags.status().message()).c_str());
    return 2;
  }
  if (!flags->models.empty()) {
    const absl::Status written = WriteModels(*flags);
    if (!written.ok())
      std::fprintf(stderr, "kernels: %s\n",
                   std::string(written.message()).c_str());
    return written.ok() ? 0 : 1;
  }
  const absl::StatusOr<std::vector<std::unique_ptr<Peer>>> peers =
      OpenPeers(*flags);
  if (!peers.ok()) {
    std::fprintf(stderr, "kernels: %s\n",
                 std::string(peers.status().message()).c_str());
    return 1;
  }
  std::unique_ptr<ControlTile> control;
  if (flags->threads == 1) {
    absl::StatusOr<std::unique_ptr<ControlTile>> created =
        ControlTile::Create(flags->target);
    if (created.ok()) control = *std::move(created);
  }
  std::printf(
      "Peak: %s multiply-adds in registers. Roofline: the larger of operations "
      "over that and bytes over the best of loops that move as many. Other "
      "libraries: us, min / median: how many times as long as ours, by the "
      "minimum.\n",
      measure::FmaPeakInstructions(flags->target.vector_bytes).c_str());
  bool ok = true;
  std::string family;
  for (const Case& one : Cases()) {
    if (!Wanted(*flags, one)) continue;
    if (one.family != family) PrintHeader(one, *flags, *peers);
    family = one.family;
    const absl::Status status = RunCase(one, *flags, control.get(), *peers);
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
