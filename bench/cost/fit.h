// The constants of the cost model that make its estimates of measured kernels
// err least.
#ifndef TILEWRIGHT_BENCH_COST_FIT_H_
#define TILEWRIGHT_BENCH_COST_FIT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "bench/cost/kernel_sample.h"

namespace tilewright::bench {

// The half of the models that constants are fitted on: by a hash of the name.
bool IsFittedOn(absl::string_view model);

// Whether it is one of the tiles that `bench/traffic:tiles --samples` tries: by
// an '@' in its name, behind which is the tile.
bool IsOfTiles(const KernelSample& sample);

// Estimated over measured time of each sample. REQUIRES: a spec with a cost
// model and as many levels as the samples.
std::vector<double> ErrorRatios(absl::Span<const KernelSample> samples,
                                const DeviceSpec& spec);

// The objective: the mean over samples of |ln ratio|, of no sample more than ln
// 2, so that what the model does not know bends nothing else. Fused kernels
// count more, for they are fewer. Of samples of one kernel in several tiles
// (IsOfTiles) it is how far they are from their mean: which tile is best, not
// how fast all are outside of a model.
double FitError(absl::Span<const KernelSample> samples, const DeviceSpec& spec);

// Searches along one constant after the other, in ever smaller steps, until
// none helps, and from there by steps of several that are drawn, again and
// again: those of spec.cost_model that times depend on, the rates of
// levels as kernels reach them, and the launch. A constant that no sample
// depends on stays as it is; a factor that several share may stay with the
// wrong one. What has changed is FITTED, from `detail`. Deterministic.
DeviceSpec FitSpec(absl::Span<const KernelSample> samples,
                   const DeviceSpec& start, const std::string& detail);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COST_FIT_H_
