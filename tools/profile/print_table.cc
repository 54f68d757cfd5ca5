#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/profile/print.h"
#include "tools/profile/short_names.h"

namespace tilewright::tools {
namespace {

std::string LimitsLine(const Profile& profile) {
  std::string line = absl::StrFormat(
      "limits of %s (%s): %.1f GFLOP/s; GB/s ",
      profile.by_device ? "the device"
                        : absl::StrCat(profile.threads, " thread",
                                       profile.threads == 1 ? "" : "s"),
      profile.limits.source, profile.limits.gflops);
  absl::StrAppend(
      &line, absl::StrJoin(profile.limits.levels, ", ",
                           [](std::string* text, const Limits::Level& level) {
                             absl::StrAppendFormat(text, "%s %.1f", level.name,
                                                   level.gbytes_per_s);
                           }));
  return line + "\n";
}

constexpr int kMostColumns = 120;

// `columns` of figures, then of what the kernel computes as much as fits: the
// name that tells it apart, the operators, the shape.
std::string Line(const std::string& figures, const KernelProfile& kernel) {
  const int room = std::max(1, kMostColumns - Columns(figures) - 2);
  std::string what = LastColumns(kernel.short_name, room);
  for (const std::string& more :
       {kernel.operators, kernel.shape_and_schedule}) {
    const std::string longer =
        absl::StrCat(what, what.empty() || more.empty() ? "" : "  ", more);
    if (Columns(longer) > room) break;
    what = longer;
  }
  return absl::StrCat(figures, what.empty() ? "" : "  ", what, "\n");
}

// The last line of a table that has not all of `kernels`.
std::string More(size_t kernels, size_t shown) {
  return shown < kernels
             ? absl::StrCat("and ", kernels - shown, " more: --profile=all\n")
             : "";
}

std::string BoundsTable(const Profile& profile) {
  std::string out =
      absl::StrFormat("%-5s %3s %11s %11s %9s %11s %-8s %s\n", "", "x", "MFLOP",
                      "KB", "FLOP/B", "us at least", "bound by", "computes");
  for (const KernelProfile& kernel : profile.kernels) {
    out += Line(
        absl::StrFormat(
            "%-5s %3d %11.3f %11.1f %9.2f %11.2f %-7s", kernel.name,
            kernel.launches, kernel.work.flops * 1e-6, kernel.work.bytes * 1e-3,
            kernel.work.bytes > 0 ? kernel.work.flops / kernel.work.bytes : 0,
            kernel.bound.us, kernel.bound.by),
        kernel);
  }
  return out;
}

// Of a device's own clock: what its plan predicted instead of what the host's
// threads did.
std::string DeviceTimesTable(const Profile& profile,
                             const std::vector<const KernelProfile*>& sorted,
                             double all_us) {
  std::string out =
      absl::StrFormat("%-5s %3s %8s %8s %8s %6s %7s %6s %5s %-8s  %s\n", "",
                      "x", "us min", "median", "planned", "time", "GFLOP/s",
                      "GB/s", "roof", "bound", "computes");
  for (const KernelProfile* kernel : sorted) {
    const double us = QuotedUs(profile, *kernel);
    const double per_us = us > 0 ? 1 / us : 0;
    out += Line(absl::StrFormat(
                    "%-5s %3d %8.1f %8.1f %8s %5.1f%% %7.0f %6.0f %4.0f%% %-7s",
                    kernel->name, kernel->launches, kernel->wall_us.min,
                    kernel->wall_us.median,
                    kernel->predicted_us > 0
                        ? absl::StrFormat("%.1f", kernel->predicted_us)
                        : "",
                    100 * us / all_us, kernel->work.flops * per_us * 1e-3,
                    kernel->work.bytes * per_us * 1e-3,
                    RooflinePercent(profile, *kernel), kernel->bound.by),
                *kernel);
  }
  return out;
}

std::string TimesTable(const Profile& profile, int most_kernels) {
  std::vector<const KernelProfile*> sorted;
  double all_us = 0;
  for (const KernelProfile& kernel : profile.kernels) {
    sorted.push_back(&kernel);
    all_us += QuotedUs(profile, kernel);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const KernelProfile* a, const KernelProfile* b) {
                     return QuotedUs(profile, *a) > QuotedUs(profile, *b);
                   });
  const size_t all = sorted.size();
  sorted.resize(std::min(all, static_cast<size_t>(most_kernels)));
  if (profile.by_device) {
    return absl::StrCat(
        DeviceTimesTable(profile, sorted, all_us), More(all, sorted.size()),
        absl::StrFormat(
            "a run of %d: min %.1f us, median %.1f us, %.1f "
            "GFLOP/s; the launches one by one %.1f us\n",
            profile.runs, profile.wall_us.min, profile.wall_us.median,
            profile.work.flops / profile.wall_us.min * 1e-3, all_us));
  }
  std::string out =
      absl::StrFormat("%-5s %3s %8s %8s %8s %6s %7s %6s %5s %-8s%4s  %s\n", "",
                      "x", "us min", "median", "CPU us", "time", "GFLOP/s",
                      "GB/s", "roof", "bound", "busy", "computes");
  for (const KernelProfile* kernel : sorted) {
    const double us = QuotedUs(profile, *kernel);
    // A copy of a few bytes may take no time that a clock sees.
    const double per_us = us > 0 ? 1 / us : 0;
    out += Line(absl::StrFormat(
                    "%-5s %3d %8.1f %8.1f %8.1f %5.1f%% %7.1f %6.1f %4.0f%% "
                    "%-7s %3.0f%%",
                    kernel->name, kernel->launches, kernel->wall_us.min,
                    kernel->wall_us.median, kernel->cpu_us.min,
                    100 * us / all_us, kernel->work.flops * per_us * 1e-3,
                    kernel->work.bytes * per_us * 1e-3,
                    RooflinePercent(profile, *kernel), kernel->bound.by,
                    kernel->busy_percent),
                *kernel);
  }
  out += More(all, sorted.size());
  absl::StrAppendFormat(
      &out,
      "a run of %d: min %.1f us, median %.1f us, %.1f GFLOP/s; threads busy "
      "%.0f%%\n",
      profile.runs, profile.wall_us.min, profile.wall_us.median,
      profile.work.flops / profile.wall_us.min * 1e-3, profile.busy_percent);
  return out;
}

}  // namespace

std::string ProfileTable(const Profile& profile, int most_kernels) {
  std::string out = LimitsLine(profile);
  absl::StrAppend(&out, profile.runs > 0 ? TimesTable(profile, most_kernels)
                                         : BoundsTable(profile));
  const auto share = [&](double us) {
    return profile.runs > 0 ? absl::StrFormat(" (%.0f%% of it reached)",
                                              100 * us / profile.wall_us.min)
                            : "";
  };
  absl::StrAppendFormat(
      &out,
      "the kernels' rooflines add up to %.1f us%s\n"
      "the model's own, %.3f GFLOP and %.3f MB once, is %.1f us%s, bound by "
      "%s\n",
      profile.kernels_bound_us, share(profile.kernels_bound_us),
      profile.work.flops * 1e-9, profile.work.bytes * 1e-6, profile.bound.us,
      share(profile.bound.us), profile.bound.by);
  return out;
}

}  // namespace tilewright::tools
