// Shared by the sources of kernel_times.h: names of kernels among the known
// ones, and results of measurements.
#ifndef TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_IMPL_H_
#define TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_IMPL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/kernels/kernel_maker.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"
#include "tilegraph/plan/kernel_key.h"

namespace tilewright::times {

std::string KernelFingerprint(const CompiledKernel& kernel);
KernelKey KeyOf(const CompiledKernel& kernel);

// Which of a workload's candidates: its schedule, and what that was lowered to.
std::string CandidateOf(const sketch::ScheduleProto& schedule,
                        const std::string& kernel_fingerprint);
std::string CandidateOf(const CompiledKernel& kernel);

// A name for kernels that are measured interleaved, by their keys; their order
// counts.
std::string TurnsOf(absl::Span<const KernelMaker::Key> keys);

// The time, or the error, of a measured kernel. REQUIRES: IsAboutTheKernel.
absl::StatusOr<double> SecondsOf(const measure::Measurement& measurement);

// Not of the device, nor of the processes around it.
bool IsAboutTheKernel(const measure::Measurement& measurement);

}  // namespace tilewright::times

#endif  // TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_IMPL_H_
