// Tilewright beside ONNX Runtime, in one run: the same model, the same input,
// the same threads, windows of the two alternating.
//
//   compare MODEL_DIR... [--ort=LIB] [--threads=1,2] [--seconds=S] [--verify]
//   [--huge-pages=both|none|own] [--connect=HOW] [--allow=LIST]
//   [--target=x86-64-v3] [--json]
//
// Prints, and after several models a table with the geometric mean of the
// speeds; never asserts, but for --verify: exit status 1 if an error against
// the float64 reference is above its limit. docs/measuring.md says how to read
// the output.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "bench/compare/allowed_limit.h"
#include "bench/compare/compare_flags.h"
#include "bench/compare/huge_pages.h"
#include "bench/compare/summary.h"
#include "bench/model/error_limit.h"
#include "bench/model/own_model.h"
#include "bench/ort/ort_session.h"
#include "bench/ort/test_data.h"
#include "bench/ort/timing.h"
#include "measure/machine/fma_peak.h"
#include "measure/machine/steady_core.h"
#include "tilegraph/plan/plan.h"

namespace tilewright::bench {
namespace {

constexpr double kWindowSeconds = 0.25;
// The peer's pool spins after a run; so long after it nothing of ours is
// measured.
constexpr double kSpinSeconds = 1;
// Windows are repeated until half of the time asked for was quiet on both
// sides, up to so many times what was asked for.
constexpr int kMostRepeats = 3;

struct Errors {
  double own = 0;
  double peer = -1;        // -1: not known
  double plain_limit = 0;  // of kernels of the model's own class
  double limit = 0;        // with what --allow= permits
  std::string source;      // of the peer's error
  bool ok() const { return own <= limit; }
};

struct Comparison {
  std::string folder;
  int threads = 1;
  double flops = 0;
  double compile_cpu_s = 0;
  double load_ms = 0;
  double peak_gflops = 0;
  Timing own;
  std::optional<Timing> peer;
  std::string peer_version;
  // Bytes of each side in huge pages after its first run.
  int64_t own_huge_bytes = 0;
  int64_t peer_huge_bytes = 0;
  std::optional<Errors> errors;
};

const char* ConnectName(PlanOptions::Connect connect) {
  switch (connect) {
    case PlanOptions::Connect::kNone:
      return "none";
    case PlanOptions::Connect::kRegister:
      return "register";
    case PlanOptions::Connect::kTileGraph:
      return "tilegraph";
  }
  return "?";
}

void Wait(double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }

absl::StatusOr<Errors> Verify(
    const CompareFlags& flags, const std::string& data_folder,
    const TestData& data, const std::vector<OrtTensor>& own,
    const std::optional<std::vector<OrtTensor>>& peer) {
  Errors errors;
  TW_ASSIGN_OR_RETURN(errors.own, Error(own, data.references));
  if (peer.has_value()) {
    TW_ASSIGN_OR_RETURN(errors.peer, Error(*peer, data.references));
    errors.source = "measured";
  } else {
    TW_ASSIGN_OR_RETURN(const PeerError recorded, ReadPeerError(data_folder));
    errors.peer = recorded.peer_error;
    errors.source = absl::StrCat("recorded, ", recorded.version);
  }
  TW_ASSIGN_OR_RETURN(errors.plain_limit,
                      ModelErrorLimit(data_folder, errors.peer));
  errors.limit = AllowedFactor(flags.allow) * errors.plain_limit;
  return errors;
}

// A B A B: windows alternate, the peak is sampled between them.
absl::Status Measure(const CompareFlags& flags, OwnModel& own, OrtSession* peer,
                     Comparison& comparison) {
  const auto run_own = [&] { return own.Run(); };
  const auto run_peer = [&] { return peer->RunBound(); };
  std::optional<measure::SteadyCore> this_core;
  if (comparison.threads == 1)
    this_core.emplace(measure::SteadyCore::OfThisThread());
  measure::SteadyCore* const core = this_core ? &*this_core : nullptr;
  measure::FmaPeak peak(comparison.threads, flags.target.vector_bytes);
  std::vector<Window> own_windows, peer_windows;
  TW_RETURN_IF_ERROR(
      MeasureWindow(run_own, kWindowSeconds, core).status());  // warm up
  if (peer != nullptr)
    TW_RETURN_IF_ERROR(MeasureWindow(run_peer, kWindowSeconds, core).status());
  const int rounds =
      std::max(1, static_cast<int>(flags.seconds / kWindowSeconds + 0.5));
  const int peak_samples = std::max(1, (50 + rounds - 1) / rounds);
  const auto enough = [&](int round) {
    if (round < rounds) return false;
    if (round >= kMostRepeats * rounds) return true;
    return 2 * QuietSeconds(own_windows) >= flags.seconds &&
           (peer == nullptr || 2 * QuietSeconds(peer_windows) >= flags.seconds);
  };
  for (int round = 0; !enough(round); ++round) {
    if (peer != nullptr && comparison.threads > 1) Wait(kSpinSeconds);
    for (int i = 0; i < peak_samples; ++i) peak.Sample();
    TW_ASSIGN_OR_RETURN(Window own_window,
                        MeasureWindow(run_own, kWindowSeconds, core));
    own_windows.push_back(std::move(own_window));
    if (peer == nullptr) continue;
    TW_ASSIGN_OR_RETURN(Window peer_window,
                        MeasureWindow(run_peer, kWindowSeconds, core));
    peer_windows.push_back(std::move(peer_window));
  }
  comparison.own = Summarize(own_windows);
  if (peer != nullptr) comparison.peer = Summarize(peer_windows);
  comparison.peak_gflops = peak.best_gflops();
  return absl::OkStatus();
}

absl::StatusOr<Comparison> CompareOnce(const CompareFlags& flags,
                                       const std::string& folder,
                                       const CompiledBytes& compiled,
                                       double load_s, const TestData& data,
                                       int threads) {
  Comparison comparison;
  comparison.folder = folder;
  comparison.threads = threads;
  comparison.compile_cpu_s = compiled.compile_cpu_s;
  comparison.load_ms = load_s * 1e3;
  const int64_t huge_before = HugePageBytes();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<OwnModel> own,
                      OwnModel::Load(compiled.tw, threads));
  comparison.flops = own->flops();
  TW_RETURN_IF_ERROR(own->Bind(data.inputs));
  TW_RETURN_IF_ERROR(own->Run());
  const int64_t huge_with_own = HugePageBytes();
  comparison.own_huge_bytes = std::max<int64_t>(0, huge_with_own - huge_before);
  std::unique_ptr<OrtSession> peer;
  std::optional<std::vector<OrtTensor>> peer_outputs;
  if (!flags.ort.empty()) {
    TW_ASSIGN_OR_RETURN(
        peer, OrtSession::Open(flags.ort, folder + "/model.onnx", {threads}));
    comparison.peer_version = peer->version();
    TW_ASSIGN_OR_RETURN(peer_outputs, peer->Run(data.inputs));
    comparison.peer_huge_bytes =
        std::max<int64_t>(0, HugePageBytes() - huge_with_own);
  }
  if (flags.verify) {
    TW_ASSIGN_OR_RETURN(comparison.errors,
                        Verify(flags, folder + "/test_data_set_0", data,
                               own->Outputs(), peer_outputs));
  }
  if (flags.seconds > 0)
    TW_RETURN_IF_ERROR(Measure(flags, *own, peer.get(), comparison));
  return comparison;
}

// At one thread CPU time is what counts, at more the wall clock.
double Quoted(const Timing& timing, int threads) {
  return threads == 1 ? timing.min_cpu_ms : timing.min_wall_ms;
}

SummaryRow RowOf(const CompareFlags& flags, const Comparison& c) {
  SummaryRow row;
  row.model = std::filesystem::path(c.folder).filename().string();
  if (!flags.allow.empty())
    absl::StrAppend(&row.model, " (", absl::StrJoin(flags.allow, ", "), ")");
  row.threads = c.threads;
  row.own_ms = Quoted(c.own, c.threads);
  if (c.peer) row.peer_ms = Quoted(*c.peer, c.threads);
  if (c.errors) {
    row.verdict = c.errors->ok() ? SummaryRow::Verdict::kOk
                                 : SummaryRow::Verdict::kTooLarge;
  }
  return row;
}

std::string TimingJson(const Timing& t) {
  return absl::StrFormat(
      "{\"min_wall_ms\": %.4f, \"median_wall_ms\": %.4f, \"min_cpu_ms\": %.4f, "
      "\"median_cpu_ms\": %.4f, \"runs\": %d, \"quiet_runs\": %d}",
      t.min_wall_ms, t.median_wall_ms, t.min_cpu_ms, t.median_cpu_ms, t.runs,
      t.quiet_runs);
}

void PrintJson(const CompareFlags& flags, const Comparison& c) {
  std::string line = absl::StrFormat(
      "{\"model\": \"%s\", \"threads\": %d, \"allow\": \"%s\", "
      "\"target\": \"%s\", \"connect\": \"%s\", \"huge_pages\": \"%s\", "
      "\"huge_bytes\": %d, \"onnxruntime_huge_bytes\": %d, "
      "\"onnxruntime_version\": \"%s\", \"gflop\": %.6f, "
      "\"compile_cpu_s\": %.3f, \"load_ms\": %.2f",
      c.folder, c.threads, absl::StrJoin(flags.allow, ","), flags.target.name,
      ConnectName(flags.connect), HugePagesName(flags.huge_pages),
      c.own_huge_bytes, c.peer_huge_bytes, c.peer_version, c.flops * 1e-9,
      c.compile_cpu_s, c.load_ms);
  if (c.own.runs > 0) {
    const double ms = Quoted(c.own, c.threads);
    absl::StrAppendFormat(&line,
                          ", \"own\": %s, \"gflops\": %.2f, \"peak_gflops\": "
                          "%.2f, \"peak_percent\": %.1f",
                          TimingJson(c.own), c.flops / ms * 1e-6, c.peak_gflops,
                          100 * c.flops / ms * 1e-6 / c.peak_gflops);
    if (c.peer) {
      absl::StrAppendFormat(
          &line, ", \"onnxruntime\": %s, \"speed_of_onnxruntime\": %.3f",
          TimingJson(*c.peer), Quoted(*c.peer, c.threads) / ms);
    }
  }
  if (c.errors) {
    absl::StrAppendFormat(&line,
                          ", \"error\": %.3e, \"onnxruntime_error\": %.3e, "
                          "\"error_limit\": %.3e, \"plain_error_limit\": "
                          "%.3e, \"verified_ok\": %s",
                          c.errors->own, c.errors->peer, c.errors->limit,
                          c.errors->plain_limit,
                          c.errors->ok() ? "true" : "false");
  }
  std::printf("%s}\n", line.c_str());
}

void PrintTiming(const char* who, const Timing& t) {
  std::printf(
      "  %-12s wall min %9.3f median %9.3f ms   CPU min %9.3f median %9.3f ms  "
      " %lld of %lld runs quiet%s\n",
      who, t.min_wall_ms, t.median_wall_ms, t.min_cpu_ms, t.median_cpu_ms,
      static_cast<long long>(t.quiet_runs), static_cast<long long>(t.runs),
      t.quiet_runs == 0 ? " (none: times are from all)" : "");
}

void PrintText(const CompareFlags& flags, const Comparison& c) {
  std::printf(
      "%s, %d thread%s: %.3f GFLOP, compiled in %.2f s of CPU, loads in %.1f "
      "ms\n",
      c.folder.c_str(), c.threads, c.threads == 1 ? "" : "s", c.flops * 1e-9,
      c.compile_cpu_s, c.load_ms);
  std::printf("  huge pages: %s; MiB in them: tilewright %.0f",
              HugePagesName(flags.huge_pages), c.own_huge_bytes * 0x1p-20);
  if (c.peer) std::printf(", ONNX Runtime %.0f", c.peer_huge_bytes * 0x1p-20);
  std::printf("\n");
  if (c.own.runs > 0) {
    const double ms = Quoted(c.own, c.threads);
    PrintTiming("tilewright", c.own);
    if (c.peer) PrintTiming("ONNX Runtime", *c.peer);
    std::printf(
        "  %.1f GFLOP/s, %.0f %% of the peak of %.1f GFLOP/s (%s, best of this "
        "run)",
        c.flops / ms * 1e-6, 100 * c.flops / ms * 1e-6 / c.peak_gflops,
        c.peak_gflops,
        measure::FmaPeakInstructions(flags.target.vector_bytes).c_str());
    if (c.peer) {
      std::printf("; %.2f x the speed of ONNX Runtime %s by %s time",
                  Quoted(*c.peer, c.threads) / ms, c.peer_version.c_str(),
                  c.threads == 1 ? "CPU" : "wall");
    }
    std::printf("\n");
  }
  if (c.errors) {
    const std::string allowed =
        flags.allow.empty()
            ? ""
            : absl::StrFormat(" (%.2e without --allow)", c.errors->plain_limit);
    std::printf("  error %.2e, ONNX Runtime %.2e (%s), limit %.2e%s: %s\n",
                c.errors->own, c.errors->peer, c.errors->source.c_str(),
                c.errors->limit, allowed.c_str(),
                c.errors->ok() ? "ok" : "TOO LARGE");
  }
}

absl::Status CompareFolder(const CompareFlags& flags, const std::string& folder,
                           bool& verified_ok,
                           std::vector<SummaryRow>& summary) {
  TW_ASSIGN_OR_RETURN(const TestData data,
                      ReadTestData(folder + "/test_data_set_0"));
  CompileOptions options;
  options.plan.connect = flags.connect;
  options.allow = flags.allow;
  TW_ASSIGN_OR_RETURN(
      const CompiledBytes compiled,
      CompileForHost(folder + "/model.onnx", options, flags.target));
  TW_ASSIGN_OR_RETURN(const double load_s, LoadSeconds(compiled.tw));
  for (const int threads : flags.threads) {
    TW_ASSIGN_OR_RETURN(
        const Comparison comparison,
        CompareOnce(flags, folder, compiled, load_s, data, threads));
    flags.json ? PrintJson(flags, comparison) : PrintText(flags, comparison);
    summary.push_back(RowOf(flags, comparison));
    std::fflush(stdout);
    verified_ok =
        verified_ok && (!comparison.errors || comparison.errors->ok());
    // Its pool has ended with the session, but not at once.
    if (!flags.ort.empty() && threads > 1) Wait(kSpinSeconds);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const absl::StatusOr<CompareFlags> flags =
      ParseCompareFlags({argv + 1, argv + argc}, std::getenv("TILEWRIGHT_ORT"),
                        std::getenv("BUILD_WORKING_DIRECTORY"));
  if (!flags.ok()) {
    std::fprintf(stderr, "compare: %s\n",
                 std::string(flags.status().message()).c_str());
    return 2;
  }
  if (const absl::Status memory = ArrangeHugePages(flags->huge_pages, argv);
      !memory.ok()) {
    std::fprintf(stderr, "compare: %s\n",
                 std::string(memory.message()).c_str());
    return 1;
  }
  if (flags->target.limits() && !flags->ort.empty()) {
    std::fprintf(stderr,
                 "compare: ONNX Runtime takes what CPUID offers; only "
                 "Tilewright is held to %s\n",
                 flags->target.name.c_str());
  }
  bool ok = true;
  std::vector<SummaryRow> summary;
  for (const std::string& folder : flags->folders) {
    const absl::Status status = CompareFolder(*flags, folder, ok, summary);
    if (status.ok()) continue;
    std::fprintf(stderr, "compare: %s: %s\n", folder.c_str(),
                 std::string(status.message()).c_str());
    ok = false;
  }
  if (!flags->json && flags->folders.size() > 1) {
    std::printf("%s", SummaryText(summary).c_str());
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
