// Runs schemes of search on tables that were measured once:
// replay --schemes=SCHEME,... [OPTIONS] TABLE...
//
// One row a table and scheme. The first scheme is the baseline: "sooner" is how
// many times less time another one takes to its final median.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/option_parser.h"
#include "bench/search/replayed_search.h"
#include "bench/search/scheme.h"
#include "bench/search/search_table.h"
#include "bench/search/search_table.pb.h"
#include "search/replayed_features.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kMostTableBytes = int64_t{64} << 20;
// The fastest of another table that a search starts with.
constexpr int kStarts = 4;
// Near enough to the best entry.
constexpr double kNear = 1.05;

struct Flags {
  std::string schemes =
      "annealing:rank,annealing:rank:adaptive,improvement:adaptive,"
      "contextual:adaptive";
  int seeds = 50;
  std::string start;
  ReplayOptions replay;
};

absl::StatusOr<SearchTable> ReadTable(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMostTableBytes));
  SearchTableProto proto;
  if (!proto.ParseFromString(bytes))
    return absl::DataLossError(absl::StrCat(path, ": no search table"));
  return SearchTable::FromProto(proto, search::ReplayedStoreFeatures());
}

double SlowerPercent(double ns, double best_ns) {
  return 100 * (ns / best_ns - 1);
}

void PrintTable(const SearchTable& table) {
  int failed = 0;
  std::vector<double> ns;
  for (const TableEntry& entry : table.entries()) {
    if (entry.ns > 0) {
      ns.push_back(entry.ns);
    } else {
      ++failed;
    }
  }
  std::sort(ns.begin(), ns.end());
  const auto near = std::upper_bound(ns.begin(), ns.end(), kNear * ns[0]);
  const TableEntry* preferred = table.preferred();
  std::printf(
      "\n%s: %d entries, %d failed; best %.1f us, median %.1f us, %d within "
      "5 %%; preferred %.1f %% above the best\n\n"
      "| scheme | %% above the best after 32 | 64 | 128 | all | trials to 5 %% "
      "| s in all | times sooner (95 %%) "
      "|\n|---|---|---|---|---|---|---|---|\n",
      table.name().c_str(), static_cast<int>(table.entries().size()), failed,
      ns[0] / 1e3, ns[ns.size() / 2] / 1e3, static_cast<int>(near - ns.begin()),
      preferred == nullptr ? std::nan("")
                           : SlowerPercent(preferred->ns, ns[0]));
}

double MeanSeconds(const std::vector<Curve>& curves) {
  double sum = 0;
  for (const Curve& curve : curves) sum += curve.back().seconds;
  return sum / static_cast<double>(curves.size());
}

absl::Status RunTable(const SearchTable& table, const Flags& flags) {
  PrintTable(table);
  ReplayOptions options = flags.replay;
  if (!flags.start.empty()) {
    TW_ASSIGN_OR_RETURN(const SearchTable other, ReadTable(flags.start));
    options.starts = table.NearestTo(other, kStarts);
  }
  std::vector<Curve> baseline;
  Random random(1);
  const std::vector<std::string> schemes = absl::StrSplit(flags.schemes, ',');
  for (const std::string& text : schemes) {
    TW_ASSIGN_OR_RETURN(const Scheme scheme, ParseScheme(text));
    std::vector<Curve> curves;
    for (int seed = 0; seed < flags.seeds; ++seed) {
      TW_ASSIGN_OR_RETURN(Curve curve,
                          Replay(table, scheme, static_cast<uint64_t>(seed),
                                 flags.replay, *RealClock()));
      curves.push_back(std::move(curve));
    }
    if (baseline.empty()) baseline = curves;
    std::printf("| %s |", text.c_str());
    for (const int trials : {32, 64, 128, flags.replay.trials}) {
      std::printf(" %.1f |",
                  SlowerPercent(MedianAfter(curves, trials), table.best_ns()));
    }
    const Interval sooner = TimesSooner(baseline, curves, random);
    std::printf(" %.0f | %.1f | %.2f (%.2f to %.2f) |\n",
                TrialsTo(curves, kNear * table.best_ns()), MeanSeconds(curves),
                sooner.value, sooner.low, sooner.high);
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

absl::Status Run(const Flags& flags, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    TW_ASSIGN_OR_RETURN(const SearchTable table, ReadTable(file));
    TW_RETURN_IF_ERROR(RunTable(table, flags));
  }
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "replay [--schemes=METHOD:WORD...,...] [--seeds=N] [--trials=N] "
    "[--batch=N] [--most_seconds=S] [--start=TABLE] TABLE...";

int Main(int argc, char** argv) {
  Flags flags;
  OptionParser options;
  options.Text("schemes", &flags.schemes);
  options.Text("start", &flags.start);
  options.Number("seeds", &flags.seeds, 1);
  options.Number("trials", &flags.replay.trials, 1);
  options.Number("batch", &flags.replay.batch, 1);
  options.Number("most_seconds", &flags.replay.most_seconds, 0.0);
  const absl::StatusOr<std::vector<std::string>> files =
      options.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!files.ok()) return ReportUsage(kUsage, files.status());
  return ReportStatus("replay", Run(flags, *files));
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
