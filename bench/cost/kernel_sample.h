// Kernels as they ran inside a model, beside what the cost model knows of them;
// as text, so that constants are fitted again without measuring again.
#ifndef TILEWRIGHT_BENCH_COST_KERNEL_SAMPLE_H_
#define TILEWRIGHT_BENCH_COST_KERNEL_SAMPLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tilegraph/cost/kernel_features.h"

namespace tilewright::bench {

struct KernelSample {
  std::string model, name;  // of the tensor that it computes; no spaces
  std::string family;       // "contraction", "winograd", "pooling", ...
  int launches = 1;         // in a run of the model, of this cost
  double us = 0;            // of one of them, on one core
  KernelFeatures features;
};

// Line by line; numbers read back as they were. A comment begins with '#'.
std::string ToText(absl::Span<const KernelSample> samples);
// InvalidArgument names the line.
absl::StatusOr<std::vector<KernelSample>> ParseSamples(absl::string_view text);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COST_KERNEL_SAMPLE_H_
