#include "bench/cost/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "backends/spec/set_source.h"
#include "base/check.h"
#include "base/fingerprint.h"
#include "base/random.h"
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
constexpr int kDraws = 3000;
constexpr double kReach = 0.4;  // of the logarithm of a constant
// Weights of a fused kernel inside a model, and of all tiles of one kernel
// together.
constexpr double kFusedWeight = 3, kTilesWeight = 2;
// A smaller gain is noise.
constexpr double kLeastGain = 1e-5;

// One number of a spec.
struct Constant {
  // Finds the message in the spec that is given.
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
        "strided_window_peak_share", "pooling_peak_share", "row_peak_share",
        "elementwise_peak_share", "fused_elementwise_peak_share"})
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
  // No less than an atomic counter that cores share.
  model("task_ns", 20, 2000, 20);
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

// Along one constant after the other until none helps.
void SearchAlong(absl::Span<const KernelSample> samples,
                 const std::vector<Constant>& constants, DeviceSpec& spec) {
  double least = FitError(samples, spec);
  bool better = true;
  for (int round = 0; better && round < kMostRounds; ++round) {
    better = false;
    for (const Constant& constant : constants) {
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
      better |= best != value;
    }
  }
}

// By steps of one to three constants at once, ever smaller: those that share a
// factor only move together.
void SearchAcross(absl::Span<const KernelSample> samples,
                  const std::vector<Constant>& constants, DeviceSpec& spec) {
  Random random(1);
  double least = FitError(samples, spec);
  for (int draw = 0; draw < kDraws; ++draw) {
    const double reach = kReach * (1 - static_cast<double>(draw) / kDraws);
    DeviceSpec other = spec;
    for (size_t i = random.Index(3) + 1; i-- > 0;) {
      const Constant& constant = constants[random.Index(constants.size())];
      double value = constant.Get(other);
      if (value == 0) value = constant.first / 5;
      constant.Set(other, Rounded(std::clamp(
                              value * std::exp(reach * random.Normal()),
                              constant.lowest, constant.highest)));
    }
    const double error = FitError(samples, other);
    if (error >= least - kLeastGain) continue;
    least = error;
    spec = std::move(other);
  }
}

}  // namespace

bool IsOfTiles(const KernelSample& sample) {
  return sample.name.find('@') != std::string::npos;
}

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
  const std::vector<double> ratios = ErrorRatios(samples, spec);
  double sum = 0, weight = 0;
  std::map<std::string, std::vector<double>> of_tiles;  // by kernel
  for (size_t i = 0; i < samples.size(); ++i) {
    const double log_ratio = std::log(ratios[i]);
    const KernelSample& sample = samples[i];
    if (IsOfTiles(sample)) {
      of_tiles[sample.model + sample.name.substr(0, sample.name.find('@'))]
          .push_back(log_ratio);
      continue;
    }
    const double own = sample.features.has_stages ? kFusedWeight : 1;
    sum += own * std::min(kLargestLogError, std::abs(log_ratio));
    weight += own;
  }
  for (const auto& [unused, logs] : of_tiles) {
    const auto count = static_cast<double>(logs.size());
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
    for (const double log_ratio : logs)
      sum += kTilesWeight / count *
             std::min(kLargestLogError, std::abs(log_ratio - mean));
    weight += kTilesWeight;
  }
  return weight > 0 ? sum / weight : 0;
}

DeviceSpec FitSpec(absl::Span<const KernelSample> samples,
                   const DeviceSpec& start, const std::string& detail) {
  DeviceSpec spec = start;
  const std::vector<Constant> constants = ConstantsOf(spec);
  std::vector<double> first;
  for (const Constant& constant : constants)
    first.push_back(constant.Get(spec));
  SearchAlong(samples, constants, spec);
  SearchAcross(samples, constants, spec);
  SearchAlong(samples, constants, spec);
  // A constant that gains nothing keeps its value.
  const double least = FitError(samples, spec);
  for (size_t i = 0; i < constants.size(); ++i) {
    const double value = constants[i].Get(spec);
    constants[i].Set(spec, first[i]);
    if (value == first[i] || FitError(samples, spec) <= least + kLeastGain)
      continue;
    constants[i].Set(spec, value);
    SetFitted(spec, constants[i], detail);
  }
  return spec;
}

}  // namespace tilewright::bench
