// How far estimates of kernels err, as a table for people.
#ifndef TILEWRIGHT_BENCH_COST_ERROR_TABLE_H_
#define TILEWRIGHT_BENCH_COST_ERROR_TABLE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "bench/cost/kernel_sample.h"

namespace tilewright::bench {

struct ErrorSummary {
  int kernels = 0;
  double median_percent = 0, p90_percent = 0;  // of |ratio - 1|
  double median_ratio = 1;                     // estimated over measured
};
ErrorSummary Summarize(std::vector<double> ratios);

// A row for all, one for each family and one for each model; then the `worst`
// kernels that err most. REQUIRES: a ratio for each sample.
std::string ErrorTable(absl::Span<const KernelSample> samples,
                       absl::Span<const double> ratios, int worst);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COST_ERROR_TABLE_H_
