#include "search/testing/landscape.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/decision/space.h"

namespace tilewright::search {

sketch::Generator NumbersGenerator(std::vector<int> most,
                                   std::vector<int> preferred) {
  preferred.resize(most.size());
  const auto write = [most = std::move(most), preferred = std::move(preferred)](
                         const sketch::Workload&, const DeviceSpec&,
                         Decider& decider) -> absl::StatusOr<sketch::Schedule> {
    std::string text;
    for (size_t i = 0; i < most.size(); ++i) {
      const int64_t value = decider.DecideNumber(absl::StrCat("v", i),
                                                 Space::Integers(0, most[i]),
                                                 [&] { return preferred[i]; });
      absl::StrAppend(&text, i == 0 ? "" : " ", value);
    }
    sketch::ScheduleWriter writer;
    writer.Block(text);
    return std::move(writer).Finish();
  };
  return {"made-up", write};
}

std::vector<int> NumbersOf(const sketch::Schedule& schedule) {
  std::vector<int> numbers;
  for (const sketch::NamedDecision& decision : schedule.decisions) {
    int number = 0;
    TW_CHECK(absl::SimpleAtoi(decision.value, &number));
    numbers.push_back(number);
  }
  return numbers;
}

Features NumberFeatures() {
  return [](const sketch::Workload&, const sketch::Schedule& schedule)
             -> absl::StatusOr<costmodel::FeatureMatrix> {
    std::vector<float> row;
    for (const int number : NumbersOf(schedule))
      row.push_back(static_cast<float>(std::log2(number + 1)));
    costmodel::FeatureMatrix features(static_cast<int>(row.size()));
    features.AddRow(row);
    return features;
  };
}

namespace {

int StepsBetween(const std::vector<int>& a, const std::vector<int>& b) {
  TW_CHECK_EQ(a.size(), b.size());
  int steps = 0;
  for (size_t i = 0; i < a.size(); ++i) steps += std::abs(a[i] - b[i]);
  return steps;
}

}  // namespace

Landscape Cone(std::vector<int> best) {
  return [best = std::move(best)](const std::vector<int>& at) {
    return 100 * std::pow(1.12, StepsBetween(at, best));
  };
}

Landscape Rugged(std::vector<int> best, std::vector<int> trap) {
  return [best = std::move(best),
          trap = std::move(trap)](const std::vector<int>& at) {
    const double there = std::pow(1.12, StepsBetween(at, best));
    const double trapped = 1.2 * std::pow(1.12, StepsBetween(at, trap));
    double odd = 1;
    for (size_t i = 0; i < at.size(); ++i) {
      if ((at[i] - best[i]) % 2 != 0) odd *= 1.3;
    }
    return 100 * std::min(there * odd, trapped);
  };
}

TaskSpace NumberSpace(std::vector<int> most, std::vector<int> preferred,
                      SpaceOptions options) {
  return TaskSpace(sketch::Workload(),
                   {NumbersGenerator(std::move(most), std::move(preferred))},
                   DeviceSpec(), NumberFeatures(), std::move(options));
}

absl::StatusOr<std::vector<measure::Measurement>> LandscapeMeasurer::DoMeasure(
    const measure::MeasureBatch& batch) {
  std::vector<measure::Measurement> results;
  for (const sketch::ScheduleProto& proto : batch.schedules) {
    if (static_cast<int>(measured.size()) == breaks_after)
      return absl::UnavailableError("the device went away");
    const auto schedule = sketch::Schedule::FromProto(proto);
    TW_CHECK_OK(schedule.status());
    const std::vector<int> numbers = NumbersOf(*schedule);
    measured.push_back(numbers);
    measure::Measurement result;
    result.set_outcome(measure::Measurement::OK);
    measure::LatencySummaryProto& latency = *result.mutable_latency();
    const double ns = landscape_(numbers);
    latency.set_n(1);
    latency.set_mean_ns(ns);
    latency.set_median_ns(ns);
    latency.set_min_ns(ns);
    latency.set_low_ns(ns);
    result.mutable_method()->set_timer(measure::Method::THREAD_CPU_TIME);
    result.mutable_method()->set_cache(measure::Method::WARM);
    result.mutable_method()->set_threads(1);
    result.mutable_method()->set_repeats(1);
    result.mutable_method()->set_degree_of_parallelism(1);
    result.mutable_verification()->set_verified(true);
    result.mutable_verification()->set_reference("made-up");
    if (change) change(numbers, result);
    results.push_back(result);
    if (batch.options.on_result)
      batch.options.on_result(static_cast<int>(results.size()) - 1, result);
  }
  return results;
}

}  // namespace tilewright::search
