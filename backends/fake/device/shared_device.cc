#include "backends/fake/device/shared_device.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tilewright::fake {

double Slowdown(double sum_compute, double sum_bandwidth, int kernels,
                const DeviceConstants& constants) {
  return std::max({1.0, sum_compute, sum_bandwidth}) *
         (1 + constants.interference * kernels);
}

SharedDevice::KernelId SharedDevice::Start(const Demand& demand,
                                           double base_latency_ns) {
  TW_CHECK(base_latency_ns >= 0);
  kernels_.push_back({next_id_, demand, work_ns_ + base_latency_ns});
  sum_compute_ += demand.compute;
  sum_bandwidth_ += demand.bandwidth;
  return next_id_++;
}

void SharedDevice::Stop(KernelId kernel) {
  const auto found =
      std::find_if(kernels_.begin(), kernels_.end(),
                   [&](const Kernel& k) { return k.id == kernel; });
  TW_CHECK(found != kernels_.end()) << "kernel " << kernel << " does not run";
  sum_compute_ -= found->demand.compute;
  sum_bandwidth_ -= found->demand.bandwidth;
  kernels_.erase(found);
  // Rounding errors of the sums end with the last kernel, and the clock of the
  // work starts again.
  if (kernels_.empty()) work_ns_ = sum_compute_ = sum_bandwidth_ = 0;
}

double SharedDevice::CurrentSlowdown() const {
  return Slowdown(sum_compute_, sum_bandwidth_, running(), constants_);
}

std::optional<SharedDevice::Completion> SharedDevice::Next() const {
  const auto first = std::min_element(kernels_.begin(), kernels_.end(),
                                      [](const Kernel& a, const Kernel& b) {
                                        return a.end_work_ns < b.end_work_ns;
                                      });
  if (first == kernels_.end() || std::isinf(first->end_work_ns)) {
    return std::nullopt;
  }
  const double rest_ns = std::max(0.0, first->end_work_ns - work_ns_);
  return Completion{first->id, now_ns_ + rest_ns * CurrentSlowdown()};
}

void SharedDevice::AdvanceTo(double time_ns) {
  TW_CHECK(time_ns >= now_ns_);
  if (!kernels_.empty()) work_ns_ += (time_ns - now_ns_) / CurrentSlowdown();
  now_ns_ = time_ns;
}

SharedDevice::Completion SharedDevice::Finish() {
  const std::optional<Completion> next = Next();
  TW_CHECK(next.has_value()) << "nothing that runs will end";
  AdvanceTo(next->time_ns);
  Stop(next->kernel);
  return *next;
}

}  // namespace tilewright::fake
