#include "tilegraph/cost/kernel_seconds.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

constexpr double kSecond = 1e9;  // ns

// Share of all transfers that counts, however well they are hidden: of two
// plans that take as long the one that moves less is better. A rule for ties,
// nothing that was measured.
constexpr double kTieShare = 0.005;

double PeakOf(const DeviceSpec& spec, DType dtype) {
  const std::string_view name = Is8Bit(dtype)               ? "i8"
                                : dtype == DType::kBFloat16 ? "bf16"
                                : dtype == DType::kFloat64  ? "f64"
                                                            : "f32";
  const double peak = CorePeak(spec, name, PeakRate::VECTOR);
  return peak > 0 ? peak : CorePeak(spec, "f32", PeakRate::VECTOR);
}

}  // namespace

KernelTimer::KernelTimer(const DeviceSpec& spec)
    : model_(CostModelOf(spec)),
      levels_(LevelsOfCore(spec)),
      private_(PrivateLevel(spec)),
      launch_seconds_(spec.unit().launch_ns() / kSecond),
      most_rows_(std::max(
          1.0, static_cast<double>(spec.unit().vector_registers()) / 2)) {
  for (int type = 0; type <= static_cast<int>(DType::kFloat64); ++type)
    peaks_.push_back(PeakOf(spec, static_cast<DType>(type)));
}

KernelSeconds KernelTimer::Of(const KernelFeatures& kernel) const {
  KernelSeconds seconds;
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    double work = 0;
    for (const ComputeFeatures& compute : kernel.stages[i].computes)
      work += Seconds(compute);
    if (i + 1 == kernel.stages.size()) work += BlockSeconds(kernel);
    AddTransfers(kernel.stages[i].levels, work, seconds);
  }
  const double stages =
      kernel.has_stages ? static_cast<double>(kernel.stages.size()) : 0;
  seconds.tasks = kernel.tasks * model_.task_ns() / kSecond +
                  kernel.tiles * stages * model_.stage_ns() / kSecond;
  seconds.launch = launch_seconds_;
  return seconds;
}

double KernelTimer::Operations(const ComputeFeatures& compute) const {
  const OperationCounts& counts = compute.operations;
  return counts.simple + counts.exps * model_.exp_operations() +
         counts.erfs * model_.erf_operations() +
         counts.tanhs * model_.tanh_operations() +
         counts.pows * model_.pow_operations() +
         counts.divisions * model_.divide_operations();
}

double KernelTimer::OpsPerSecond(const ComputeFeatures& compute) const {
  const double peak = PeakFor(compute.dtype);
  switch (compute.kind) {
    case ArithmeticKind::kContraction:
    case ArithmeticKind::kWinograd: {
      const double share = compute.kind == ArithmeticKind::kWinograd
                               ? model_.winograd_peak_share()
                               : model_.contraction_peak_share();
      const double rate = share * peak * compute.terms /
                          (compute.terms + model_.contraction_half_terms());
      // Register tiles want several rows.
      const double square = compute.rows * compute.rows;
      return rate * compute.filled_lanes * square /
             (square + model_.single_row_slowdown()) /
             compute.register_tile_slowdown;
    }
    case ArithmeticKind::kWindow:
      return model_.window_peak_share() * peak * compute.filled_lanes;
    case ArithmeticKind::kStridedWindow:
      return model_.strided_window_peak_share() * peak * compute.filled_lanes;
    case ArithmeticKind::kPooling:
      return model_.pooling_peak_share() * peak * compute.filled_lanes;
    case ArithmeticKind::kRow: {
      const double half = compute.terms_are_neighbours
                              ? model_.row_half_terms()
                              : model_.contraction_half_terms();
      return model_.row_peak_share() * peak * compute.terms /
             (compute.terms + half);
    }
    case ArithmeticKind::kElementwise:
      return (compute.is_fused ? model_.fused_elementwise_peak_share()
                               : model_.elementwise_peak_share()) *
             peak * compute.filled_lanes;
  }
  TW_CHECK(false);
}

double KernelTimer::Seconds(const ComputeFeatures& compute) const {
  double seconds = compute.points * Operations(compute) / OpsPerSecond(compute);
  if (compute.kind == ArithmeticKind::kWinograd) {
    // An operation of a transform takes the place of a multiply-add.
    const bool small = compute.winograd_m == 2;
    const double input = small ? model_.winograd2_input_operations()
                               : model_.winograd4_input_operations(),
                 output = small ? model_.winograd2_output_operations()
                                : model_.winograd4_output_operations();
    return seconds +
           2 * (compute.input_tiles * input + compute.output_tiles * output) /
               PeakFor(compute.dtype);
  }
  // A register tile loads an element once for all of its rows.
  const double uses = compute.kind == ArithmeticKind::kContraction
                          ? std::min(compute.rows, most_rows_)
                          : 1;
  seconds += compute.points / uses * compute.operations.scattered_loads *
             model_.scattered_element_ns() / kSecond;
  if (compute.terms_are_neighbours)
    seconds += compute.points / compute.terms * model_.row_ns() / kSecond;
  return seconds;
}

// The sums of a block go to scratch and come again, beside the arithmetic.
double KernelTimer::BlockSeconds(const KernelFeatures& kernel) const {
  if (kernel.blocks <= 1) return 0;
  const MemoryLevel& scratch = levels_[private_];
  const double block_seconds =
      model_.block_ns() / kSecond +
      kernel.sums_bytes *
          (1 / ReadBytesPerS(scratch) + 1 / WriteBytesPerS(scratch));
  return block_seconds * kernel.blocks * kernel.tasks;
}

// Stages come one after the other: what one waits for, no other hides. A byte
// takes as long as the level that it is read from needs: a spec's rates are of
// reading sets of that size, all the way to registers. Lines to be written are
// read first (group_traffic.h) and written back beside that, but for those that
// go out. Where runs are short, prefetching waits for the first line of each.
void KernelTimer::AddTransfers(const std::vector<LevelBytes>& levels,
                               double work, KernelSeconds& seconds) const {
  double streamed = 0, slowest_write = 0, closer = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const LevelBytes& across = levels[i];
    const double write = across.written / WriteBytesPerS(levels_[i]);
    streamed += std::max(0.0, across.read - closer) / ReadBytesPerS(levels_[i]);
    closer = std::max(closer, across.read);
    if (i == 0) {
      streamed += write + across.short_runs * levels_[0].latency_ns() / kSecond;
    } else {
      slowest_write = std::max(slowest_write, write);
    }
  }
  seconds.work += work;
  seconds.transfer += Overlapped(work, streamed, slowest_write) - work +
                      kTieShare * std::max(streamed, slowest_write);
}

// The norm of order p: of times that differ much the longest, of equal ones
// more, for none hides the others perfectly.
double KernelTimer::Overlapped(double work, double streamed,
                               double written) const {
  const double longest = std::max({work, streamed, written});
  if (longest <= 0) return 0;
  const double p = model_.overlap_exponent();
  double sum = 0;
  for (const double part : {work, streamed, written})
    sum += std::pow(part / longest, p);
  return longest * std::pow(sum, 1 / p);
}

}  // namespace tilewright
