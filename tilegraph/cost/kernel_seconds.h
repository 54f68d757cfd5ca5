// How long a core takes for a kernel, from its counts and a device spec.
//
// The arithmetic of a stage, at the rate that its kind reaches, its reads and
// its writes between memory levels overlap: together they take the norm of the
// three times whose order the spec has, which is little more than the longest
// of them where they differ (design: planning.md has the longest). Stages come
// one after the other, tasks have their overhead.
#ifndef TILEWRIGHT_TILEGRAPH_COST_KERNEL_SECONDS_H_
#define TILEWRIGHT_TILEGRAPH_COST_KERNEL_SECONDS_H_

#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/kernel_features.h"

namespace tilewright {

struct KernelSeconds {
  double work = 0;      // arithmetic
  double transfer = 0;  // what transfers add to it
  double tasks = 0;     // to start them
  double launch = 0;
  double total() const { return work + transfer + tasks + launch; }
};

class KernelTimer {
 public:
  // REQUIRES: a spec with a cost model; it must outlive it.
  explicit KernelTimer(const DeviceSpec& spec);

  // REQUIRES: no more levels than the spec has.
  KernelSeconds Of(const KernelFeatures& kernel) const;

 private:
  double Seconds(const ComputeFeatures& compute) const;
  double OpsPerSecond(const ComputeFeatures& compute) const;
  // An evaluation's, in vector operations.
  double Operations(const ComputeFeatures& compute) const;
  double BlockSeconds(const KernelFeatures& kernel) const;
  void AddTransfers(const std::vector<LevelBytes>& levels, double work,
                    KernelSeconds& seconds) const;
  // Seconds in which these three are done side by side.
  double Overlapped(double work, double streamed, double written) const;
  double PeakFor(DType dtype) const { return peaks_[static_cast<int>(dtype)]; }

  const CostModel& model_;
  const std::vector<MemoryLevel> levels_;  // of a core
  const int private_;                      // of them
  const double launch_seconds_;
  const double most_rows_;     // of a register tile
  std::vector<double> peaks_;  // by type
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_KERNEL_SECONDS_H_
