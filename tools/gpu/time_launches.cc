#include "tools/gpu/time_launches.h"

#include <algorithm>
#include <cstdint>

#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

constexpr int kMostWarmUps = 3;

}  // namespace

absl::StatusOr<std::vector<double>> TimeLaunches(
    backends::Device* device, backends::Stream& stream,
    const std::function<absl::Status()>& launch, int samples) {
  const int warm_ups = std::min(kMostWarmUps, samples);
  std::vector<double> ns;
  for (int i = 0; i < warm_ups + samples; ++i) {
    TW_ASSIGN_OR_RETURN(const int64_t time, device->TimeNs(stream, launch));
    if (i >= warm_ups) ns.push_back(static_cast<double>(time));
  }
  return ns;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace tilewright::cuda
