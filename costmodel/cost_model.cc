#include "costmodel/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::costmodel {
namespace {

template <typename Values>
absl::Status CheckValues(const char* what, const Values& values, int size) {
  if (values.size() != static_cast<size_t>(size)) {
    return absl::InvalidArgumentError(absl::StrCat(size, " candidates have ",
                                                   values.size(), " ", what,
                                                   ": one each is "
                                                   "needed"));
  }
  return absl::OkStatus();
}

template <typename Values>
absl::Status CheckFinite(const char* what, const Values& values) {
  if (!std::all_of(values.begin(), values.end(),
                   [](double x) { return std::isfinite(x); })) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " of candidates must be finite"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Check(const CandidateFeatures& candidates) {
  const std::vector<int>& counts = candidates.row_counts;
  if (!counts.empty() &&
      (std::accumulate(counts.begin(), counts.end(), 0) !=
           candidates.rows.rows() ||
       *std::min_element(counts.begin(), counts.end()) < 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        counts.size(), " candidates do not have at least one row each of ",
        candidates.rows.rows()));
  }
  if (!candidates.priors.empty()) {
    TW_RETURN_IF_ERROR(
        CheckValues("priors", candidates.priors, candidates.size()));
  }
  TW_RETURN_IF_ERROR(CheckFinite("priors", candidates.priors));
  return CheckFinite("features", candidates.rows.values());
}

absl::Status Check(const MeasuredCandidates& measured) {
  const int size = measured.candidates.size();
  if (size == 0) {
    return absl::InvalidArgumentError(
        "a cost model needs at least one measured candidate");
  }
  TW_RETURN_IF_ERROR(Check(measured.candidates));
  TW_RETURN_IF_ERROR(CheckValues("scores", measured.scores, size));
  if (!measured.tasks.empty()) {
    TW_RETURN_IF_ERROR(CheckValues("tasks", measured.tasks, size));
  }
  return CheckFinite("scores", measured.scores);
}

std::vector<double> RelativeThroughputs(absl::Span<const double> times,
                                        absl::Span<const int> tasks) {
  TW_CHECK(tasks.empty() || tasks.size() == times.size());
  const auto task = [&](size_t i) { return tasks.empty() ? 0 : tasks[i]; };
  std::map<int, double> least;
  for (size_t i = 0; i < times.size(); ++i) {
    TW_CHECK(!(times[i] <= 0)) << "a time of " << times[i];
    if (!std::isfinite(times[i])) continue;
    const auto [entry, is_first] = least.emplace(task(i), times[i]);
    entry->second = std::min(entry->second, times[i]);
  }
  std::vector<double> scores;
  scores.reserve(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    scores.push_back(std::isfinite(times[i]) ? least[task(i)] / times[i] : 0);
  }
  return scores;
}

}  // namespace tilewright::costmodel
