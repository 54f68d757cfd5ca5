#include "bench/cost/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "backends/spec/set_source.h"
#include "base/check.h"
#include "base/fingerprint.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "tilegraph/cost/kernel_seconds.h"

namespace tilewright::bench {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

constexpr double kLargestLogError = 0.693147;  // ln 2
constexpr double kSteps[] = {2, 1.4, 1.15, 1.05, 1.02};
constexpr int kMostRounds = 40;
// What is gained by less is noise.
constexpr double kLeastGain = 1e-5;

// One number of a spec.
struct Constant {
  // Of the spec that is given.
  std::function<Message*(DeviceSpec&)> message;
  std::string field;
  double lowest, highest;
  double first;  // tried where it is 0

  double Get(DeviceSpec& spec) const {
    Message* const of = message(spec);
    return of->GetReflection()->GetDouble(*of, Field(*of));
  }
  void Set(DeviceSpec& spec, double value) const {
    Message* const of = message(spec);
    of->GetReflection()->SetDouble(of, Field(*of), value);
  }
  const FieldDescriptor* Field(const Message& of) const {
    const FieldDescriptor* const found =
        of.GetDescriptor()->FindFieldByName(field);
    TW_CHECK(found != nullptr) << field;
    return found;
  }
};

std::vector<Constant> ConstantsOf(const DeviceSpec& spec) {
  std::vector<Constant> constants;
  const auto model = [&](const char* field, double lowest, double highest,
                         double first) {
    constants.push_back(
        {[](DeviceSpec& of) -> Message* { return of.mutable_cost_model(); },
         field, lowest, highest, first});
  };
  for (const char* share :
       {"contraction_peak_share", "winograd_peak_share", "window_peak_share",
        "strided_window_peak_share", "row_peak_share", "elementwise_peak_share",
        "fused_elementwise_peak_share"})
    model(share, 0.02, 2, 0.5);
  model("contraction_half_terms", 0, 50, 2);
  model("row_half_terms", 0, 1000, 50);
  model("single_row_slowdown", 0, 10, 0.5);
  for (const char* function :
       {"exp_operations", "erf_operations", "tanh_operations", "pow_operations",
        "divide_operations"})
    model(function, 1, 200, 10);
  model("scattered_element_ns", 0, 20, 0.1);
  model("row_ns", 0, 100, 1);
  model("overlap_exponent", 1, 16, 2);
  model("task_ns", 0, 2000, 20);
  model("stage_ns", 0, 5000, 50);
  model("block_ns", 0, 5000, 50);
  for (int level = 0; level < spec.levels_size(); ++level) {
    if (!(spec.levels(level).read_bytes_per_s() > 0)) continue;
    for (const char* rate : {"read_bytes_per_s", "write_bytes_per_s"})
      constants.push_back({[level](DeviceSpec& of) -> Message* {
                             return of.mutable_levels(level);
                           },
                           rate, 1e9, 1e12, 1e10});
  }
  constants.push_back(
      {[](DeviceSpec& of) -> Message* { return of.mutable_unit(); },
       "launch_ns", 0, 10000, 300});
  return constants;
}

// Four digits: more would pretend.
double Rounded(double value) {
  double rounded = 0;
  TW_CHECK(absl::SimpleAtod(absl::StrFormat("%.4g", value), &rounded));
  return rounded;
}

void SetFitted(DeviceSpec& spec, const Constant& constant,
               const std::string& detail) {
  const std::vector<std::string> fields = {constant.field};
  Message* const of = constant.message(spec);
  if (of == spec.mutable_cost_model()) {
    SetSource(*spec.mutable_cost_model(), Source::FITTED, fields, detail);
  } else if (of == spec.mutable_unit()) {
    SetSource(*spec.mutable_unit(), Source::FITTED, fields, detail);
  } else {
    for (MemoryLevel& level : *spec.mutable_levels()) {
      if (of == &level) SetSource(level, Source::FITTED, fields, detail);
    }
  }
}

}  // namespace

bool IsFittedOn(absl::string_view model) {
  return (Fingerprint::Of({model.data(), model.size()}).low & 1) == 0;
}

std::vector<double> ErrorRatios(absl::Span<const KernelSample> samples,
                                const DeviceSpec& spec) {
  const KernelTimer timer(spec);
  std::vector<double> ratios;
  ratios.reserve(samples.size());
  for (const KernelSample& sample : samples)
    ratios.push_back(timer.Of(sample.features).total() * 1e6 / sample.us);
  return ratios;
}

double FitError(absl::Span<const KernelSample> samples,
                const DeviceSpec& spec) {
  double sum = 0;
  for (const double ratio : ErrorRatios(samples, spec))
    sum += std::min(kLargestLogError, std::abs(std::log(ratio)));
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

DeviceSpec FitSpec(absl::Span<const KernelSample> samples,
                   const DeviceSpec& start, const std::string& detail) {
  DeviceSpec spec = start;
  const std::vector<Constant> constants = ConstantsOf(spec);
  std::vector<bool> changed(constants.size());
  double least = FitError(samples, spec);
  bool better = true;
  for (int round = 0; better && round < kMostRounds; ++round) {
    better = false;
    for (size_t i = 0; i < constants.size(); ++i) {
      const Constant& constant = constants[i];
      const double value = constant.Get(spec);
      double best = value;
      const auto attempt = [&](double other) {
        other = Rounded(std::clamp(other, constant.lowest, constant.highest));
        constant.Set(spec, other);
        const double error = FitError(samples, spec);
        if (error < least - kLeastGain) least = error, best = other;
      };
      if (value == 0) attempt(constant.first);
      if (constant.lowest == 0) attempt(0);
      for (const double step : kSteps) {
        attempt(value * step);
        attempt(value / step);
      }
      constant.Set(spec, best);
      if (best == value) continue;
      better = changed[i] = true;
    }
  }
  for (size_t i = 0; i < constants.size(); ++i) {
    if (changed[i]) SetFitted(spec, constants[i], detail);
  }
  return spec;
}

}  // namespace tilewright::bench
