// The control of a measurement: a register tile whose operands never leave the
// first-level cache. Where it comes close to the peak of multiply-adds in
// registers, nobody else took issue slots, and what is measured beside it
// counts (docs/measuring.md).
#ifndef TILEWRIGHT_BENCH_KERNELS_CONTROL_TILE_H_
#define TILEWRIGHT_BENCH_KERNELS_CONTROL_TILE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "bench/options/target_class.h"

namespace tilewright::bench {

class ControlTile {
 public:
  static absl::StatusOr<std::unique_ptr<ControlTile>> Create(
      const TargetClass& target = {});

  // Runs for about a millisecond on this thread: GFLOP/s by its CPU time, the
  // best of several runs.
  absl::StatusOr<double> Sample();
  // A window counts from this share of the peak on.
  static constexpr double kEnough = 0.95;

 private:
  ControlTile() = default;

  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::DeviceModule> module_;
  std::unique_ptr<backends::DeviceKernel> kernel_;
  std::unique_ptr<backends::Stream> stream_;
  std::unique_ptr<backends::DeviceBuffer> a_, b_, c_;
  double flops_ = 0;  // of one run
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_CONTROL_TILE_H_
