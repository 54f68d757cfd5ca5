#include "bench/cost/error_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "absl/strings/str_format.h"
#include "base/check.h"

namespace tilewright::bench {
namespace {

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[std::min(
      sorted.size() - 1,
      static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

std::string Row(const std::string& name, const ErrorSummary& errors) {
  return absl::StrFormat("| %s | %d | %.1f | %.1f | %.2f |\n", name,
                         errors.kernels, errors.median_percent,
                         errors.p90_percent, errors.median_ratio);
}

}  // namespace

ErrorSummary Summarize(std::vector<double> ratios) {
  ErrorSummary summary;
  summary.kernels = static_cast<int>(ratios.size());
  if (ratios.empty()) return summary;
  std::vector<double> errors;
  for (const double ratio : ratios) errors.push_back(std::abs(ratio - 1));
  std::sort(errors.begin(), errors.end());
  std::sort(ratios.begin(), ratios.end());
  summary.median_percent = 100 * Quantile(errors, 0.5);
  summary.p90_percent = 100 * Quantile(errors, 0.9);
  summary.median_ratio = Quantile(ratios, 0.5);
  return summary;
}

std::string ErrorTable(absl::Span<const KernelSample> samples,
                       absl::Span<const double> ratios, int worst) {
  TW_CHECK_EQ(samples.size(), ratios.size());
  std::map<std::string, std::vector<double>> by_family, by_model;
  for (size_t i = 0; i < samples.size(); ++i) {
    by_family[samples[i].family].push_back(ratios[i]);
    by_model[samples[i].model].push_back(ratios[i]);
  }
  std::string text =
      "| kernels | number | median error % | 90th percentile % | median "
      "ratio |\n|---|---|---|---|---|\n";
  text += Row("all", Summarize({ratios.begin(), ratios.end()}));
  for (const auto* groups : {&by_family, &by_model}) {
    for (const auto& [name, own] : *groups) text += Row(name, Summarize(own));
  }
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  const auto error = [&](size_t i) { return std::abs(std::log(ratios[i])); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return error(a) > error(b); });
  order.resize(std::min(order.size(), static_cast<size_t>(worst)));
  for (const size_t i : order)
    text +=
        absl::StrFormat("%s %s %s: %.1f us estimated, %.1f measured\n",
                        samples[i].model, samples[i].family, samples[i].name,
                        ratios[i] * samples[i].us, samples[i].us);
  return text;
}

}  // namespace tilewright::bench
