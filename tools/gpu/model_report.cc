#include "tools/gpu/model_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "runtime/model.h"
#include "tools/gpu/time_launches.h"
#include "tools/model_io.h"
#include "tools/page/json.h"
#include "tools/profile/limits.h"
#include "tools/profile/print.h"

namespace tilewright::cuda {
namespace {

constexpr int kLeastRuns = 5;

// "resnet18", of "zoo/resnet18.tw".
std::string NameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string file =
      slash == std::string::npos ? path : path.substr(slash + 1);
  return file.substr(0, file.rfind('.'));
}

absl::StatusOr<tools::DrawnRun> Load(
    const std::string& path, const std::shared_ptr<backends::Device>& device) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                      Model::Load(path, device));
  return tools::DrawRun(std::move(model), /*seed=*/0);
}

absl::Status TimeWhole(const std::shared_ptr<backends::Device>& device,
                       double seconds, const std::string& outputs,
                       TimedModel& timed) {
  TW_ASSIGN_OR_RETURN(const tools::DrawnRun loaded, Load(timed.path, device));
  if (!outputs.empty()) {
    TW_RETURN_IF_ERROR(
        tools::WriteOutputs(absl::StrCat(outputs, "/", NameOf(timed.path)),
                            loaded.session->model().program(), loaded.outputs));
  }
  std::vector<double> us;
  const int64_t start_ns = RealClock()->WallNs();
  while (us.size() < kLeastRuns ||
         static_cast<double>(RealClock()->WallNs() - start_ns) <
             seconds * 1e9) {
    TW_ASSIGN_OR_RETURN(const int64_t ns,
                        loaded.session->TimeRun(loaded.from, loaded.to));
    us.push_back(static_cast<double>(ns) * 1e-3);
  }
  timed.run_us = tools::SpreadOf(std::move(us));
  return absl::OkStatus();
}

absl::Status TimeEachLaunch(const std::shared_ptr<backends::Device>& device,
                            double seconds, TimedModel& timed) {
  TW_ASSIGN_OR_RETURN(const tools::DrawnRun loaded, Load(timed.path, device));
  TW_ASSIGN_OR_RETURN(
      timed.profile,
      tools::MeasureDeviceProfile(
          *loaded.session, loaded.from, loaded.to,
          tools::LimitsOfSpec(device->spec(),
                              static_cast<int>(device->spec().unit().cores())),
          seconds));
  return absl::OkStatus();
}

// Of the kernels of which something is predicted.
struct Predictions {
  double predicted_us = 0;
  std::vector<double> errors;  // relative
};

Predictions PredictionsOf(const tools::Profile& profile) {
  Predictions predictions;
  for (const tools::KernelProfile& kernel : profile.kernels) {
    predictions.predicted_us += kernel.predicted_us;
    if (kernel.predicted_us > 0 && kernel.wall_us.median > 0)
      predictions.errors.push_back(
          std::abs(kernel.predicted_us / kernel.wall_us.median - 1));
  }
  return predictions;
}

}  // namespace

std::vector<TimedModel> TimeModels(
    const std::vector<std::string>& paths, const ModelDevices& devices,
    double seconds, const std::string& outputs,
    const std::function<void(const TimedModel&)>& timed) {
  std::vector<TimedModel> models;
  for (const std::string& path : paths) {
    TimedModel& model = models.emplace_back();
    model.path = path;
    model.status = TimeWhole(devices.events, seconds, outputs, model);
    timed(model);
  }
  for (TimedModel& model : models) {
    if (!model.status.ok()) continue;
    model.status = TimeEachLaunch(devices.launches, seconds, model);
    timed(model);
  }
  return models;
}

std::string ModelTable(const std::vector<TimedModel>& models) {
  std::string text =
      "| model | kernels | launches | a run, us | launches one by one, us | "
      "predicted us | at least us | GFLOP/s | median error of a kernel's time "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  std::vector<double> errors;
  for (const TimedModel& model : models) {
    absl::StrAppend(&text, "| ", NameOf(model.path), " | ");
    if (!model.status.ok()) {
      absl::StrAppend(&text, "FAILED: ", std::string(model.status.message()),
                      " |\n");
      continue;
    }
    const tools::Profile& profile = model.profile;
    double launches_us = 0;
    int launches = 0;
    for (const tools::KernelProfile& kernel : profile.kernels) {
      launches += kernel.launches;
      launches_us += kernel.wall_us.median;
    }
    const Predictions predictions = PredictionsOf(profile);
    errors.insert(errors.end(), predictions.errors.begin(),
                  predictions.errors.end());
    absl::StrAppendFormat(
        &text, "%d | %d | %.1f | %.1f | %.1f | %.1f | %.0f | %s |\n",
        profile.kernels.size(), launches, model.run_us.median, launches_us,
        predictions.predicted_us, profile.bound.us,
        profile.work.flops / std::max(model.run_us.median, 1e-3) * 1e-3,
        predictions.errors.empty()
            ? ""
            : absl::StrFormat("%.0f %%", 100 * Median(predictions.errors)));
  }
  if (!errors.empty())
    absl::StrAppendFormat(&text,
                          "\n%d kernels: predicted times are off by %.0f %% "
                          "(median).\n",
                          errors.size(), 100 * Median(errors));
  return text;
}

std::string ModelDetails(const TimedModel& model) {
  tools::Json json;
  json.Open('{').Key("model").Text(NameOf(model.path));
  json.Key("run_min_us").Number(model.run_us.min);
  json.Key("run_median_us").Number(model.run_us.median);
  tools::AppendProfile(model.profile, json.Key("profile"));
  return absl::StrCat(json.Close('}').text(), "\n");
}

}  // namespace tilewright::cuda
