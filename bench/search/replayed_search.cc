#include "bench/search/replayed_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>

#include "base/status_macros.h"
#include "bench/search/table_measurer.h"
#include "measure/record/workload_key.h"
#include "measure/stats/median.h"
#include "search/candidate.h"
#include "search/space.h"
#include "search/tuner.h"

namespace tilewright::bench {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kResamples = 1000;

double NsAfter(const Curve& curve, int trials) {
  if (curve.empty() || trials < 1) return kNever;
  return curve[std::min(curve.size(), static_cast<size_t>(trials)) - 1].ns;
}

double NsAt(const Curve& curve, double seconds) {
  const auto after = std::upper_bound(
      curve.begin(), curve.end(), seconds,
      [](double s, const CurvePoint& point) { return s < point.seconds; });
  return after == curve.begin() ? kNever : std::prev(after)->ns;
}

double MedianOf(absl::Span<const Curve> curves,
                const std::function<double(const Curve&)>& value) {
  std::vector<double> values;
  for (const Curve& curve : curves) values.push_back(value(curve));
  return measure::Median(std::move(values));
}

size_t LongestOf(absl::Span<const Curve> curves) {
  size_t trials = 0;
  for (const Curve& curve : curves) trials = std::max(trials, curve.size());
  return trials;
}

// The runs of a resample, which are drawn with replacement.
std::vector<Curve> Resample(absl::Span<const Curve> curves, Random& random) {
  std::vector<Curve> drawn;
  for (size_t i = 0; i < curves.size(); ++i)
    drawn.push_back(curves[random.Index(curves.size())]);
  return drawn;
}

double Ratio(absl::Span<const Curve> baseline, absl::Span<const Curve> curves) {
  const double target =
      MedianAfter(baseline, static_cast<int>(LongestOf(baseline)));
  return SecondsTo(baseline, target) / SecondsTo(curves, target);
}

}  // namespace

absl::StatusOr<Curve> Replay(const SearchTable& table, const Scheme& scheme,
                             uint64_t seed, const ReplayOptions& options,
                             Clock& cpu) {
  search::SpaceOptions of_space;
  of_space.use_rules = scheme.seeded;
  search::TaskSpace space = table.Space(of_space);
  const std::unique_ptr<search::Method> method = MakeMethod(scheme);
  const std::unique_ptr<search::ScoreModel> model = MakeModel(scheme, seed);
  // Since the last batch was measured.
  int64_t cpu_ns = cpu.ThreadCpuNs(), runs = 0;
  measure::AdaptiveEvaluatorOptions repeats = RepeatsOf(scheme);
  repeats.most_seconds = options.most_seconds;
  TableMeasurer measurer(table, repeats, seed, [&] {
    const double made =
        static_cast<double>(space.runs() - runs) * table.candidate_ns();
    runs = space.runs();
    return made + static_cast<double>(cpu.ThreadCpuNs() - cpu_ns);
  });
  search::TunerOptions of_tuner;
  of_tuner.trials = options.trials;
  of_tuner.batch = options.batch;
  of_tuner.seed = seed;
  of_tuner.clock = &measurer.clock();
  search::Tuner tuner({space, *method, model.get(), /*task=*/0, measurer,
                       measure::MakeWorkloadKey(table.workload())},
                      of_tuner);
  for (const Answers& start : options.starts) {
    absl::StatusOr<search::Candidate> candidate =
        space.FromAnswers("table", start);
    if (candidate.ok()) tuner.AddSeed(*std::move(candidate));
  }
  while (tuner.ended().empty()) {
    TW_RETURN_IF_ERROR(tuner.Round());
    cpu_ns = cpu.ThreadCpuNs();
  }
  Curve curve;
  double seen_ns = kNever, true_ns = kNever;
  for (const TableMeasurer::Seen& seen : measurer.seen()) {
    if (seen.seen_ns < seen_ns) {
      seen_ns = seen.seen_ns;
      true_ns = seen.true_ns;
    }
    curve.push_back({seen.seconds, true_ns});
  }
  return curve;
}

double MedianAfter(absl::Span<const Curve> curves, int trials) {
  return MedianOf(curves,
                  [&](const Curve& curve) { return NsAfter(curve, trials); });
}

double TrialsTo(absl::Span<const Curve> curves, double ns) {
  for (size_t trials = 1; trials <= LongestOf(curves); ++trials) {
    if (MedianAfter(curves, static_cast<int>(trials)) <= ns)
      return static_cast<double>(trials);
  }
  return kNever;
}

double SecondsTo(absl::Span<const Curve> curves, double ns) {
  std::vector<double> times;
  for (const Curve& curve : curves) {
    for (const CurvePoint& point : curve) times.push_back(point.seconds);
  }
  std::sort(times.begin(), times.end());
  // Seen to be the fastest need not be so: medians fall but for that noise.
  const auto reached =
      std::partition_point(times.begin(), times.end(), [&](double seconds) {
        return MedianOf(curves, [&](const Curve& curve) {
                 return NsAt(curve, seconds);
               }) > ns;
      });
  return reached == times.end() ? kNever : *reached;
}

Interval TimesSooner(absl::Span<const Curve> baseline,
                     absl::Span<const Curve> curves, Random& random) {
  std::vector<double> ratios;
  for (int i = 0; i < kResamples; ++i) {
    ratios.push_back(
        Ratio(Resample(baseline, random), Resample(curves, random)));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<size_t>(share * (kResamples - 1))];
  };
  return {Ratio(baseline, curves), at(0.025), at(0.975)};
}

}  // namespace tilewright::bench
