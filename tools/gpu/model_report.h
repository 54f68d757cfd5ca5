// Whole models on a GPU, as the runtime runs them: a .tw that was compiled
// elsewhere, timed as a whole and kernel by kernel, beside what its plan
// predicted.
#ifndef TILEWRIGHT_TOOLS_GPU_MODEL_REPORT_H_
#define TILEWRIGHT_TOOLS_GPU_MODEL_REPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/device.h"
#include "tools/profile/profile.h"

namespace tilewright::cuda {

struct TimedModel {
  std::string path;
  absl::Status status;     // of loading and running it
  tools::Spread run_us;    // of all launches as a run makes them, by events
  tools::Profile profile;  // launch by launch, by records if there are any
};

// Where models are timed; the second may be the first.
struct ModelDevices {
  std::shared_ptr<backends::Device> events, launches;
};

// Each of `paths`, all as a whole before the first one launch by launch:
// records, once on, cost every launch a little. `seconds` of either. Outputs
// for inputs that are drawn go to OUTPUTS/MODEL/NAME.npy, where a folder is
// given. `timed` hears of each model twice, as soon as either is known.
std::vector<TimedModel> TimeModels(
    const std::vector<std::string>& paths, const ModelDevices& devices,
    double seconds, const std::string& outputs,
    const std::function<void(const TimedModel&)>& timed);

// A row for each model.
std::string ModelTable(const std::vector<TimedModel>& models);
// A line of JSON: the model with all of its kernels. REQUIRES:
// model.status.ok().
std::string ModelDetails(const TimedModel& model);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_MODEL_REPORT_H_
