// How long kernels take on one core of this machine: what the records tell,
// and what they do not is measured and recorded at once, so that nothing that
// was measured is lost when the process ends.
//
// Only verified kernels have a time: each is verified once, before it is
// measured, and records without a verification are passed over.
#ifndef TILEWRIGHT_COMPILER_KERNEL_TIMES_H_
#define TILEWRIGHT_COMPILER_KERNEL_TIMES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "base/clock.h"
#include "compiler/kernel_maker.h"
#include "measure/measurer.h"
#include "measure/record.pb.h"
#include "measure/store.h"
#include "tilegraph/kernel_key.h"

namespace tilewright {

struct KernelTimesOptions {
  // Must outlive it; null: nothing is kept. Records count if workload, device,
  // schedule, and what the schedule was lowered to are the same.
  measure::Store* store = nullptr;
  // Who measures kernels with one thread on warm caches, and who verifies them
  // (the times that it finds are not used). Each is asked for once, when
  // something has to be done; they must outlive it. Without a measurer records
  // alone tell.
  using MeasurerMaker = std::function<absl::StatusOr<measure::Measurer*>()>;
  MeasurerMaker measurer, verifier;
  // Called when any of the counts changed.
  std::function<void()> on_progress;
  // Wall time that measuring, and verifying, may take: what has not been begun
  // by then has no time. The records of another run go on from there.
  double most_measuring_seconds = 150, most_verifying_seconds = 90;
  Clock* clock = RealClock();
};

// Not thread-safe.
class KernelTimes {
 public:
  KernelTimes(const DeviceSpec& spec, KernelTimesOptions options);

  // Of kernels of one workload, in their order: seconds, the lower decile of
  // the executions when it was measured first. They are verified in that order
  // too. An error is the kernel's (it crashes, its results are wrong), as
  // ResourceExhausted that the time for it was over, as Unavailable that it
  // could not be verified or measured or, as NotFound, that there is no record
  // and nobody measures.
  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      absl::Span<const CompiledKernel* const> kernels);

  // Of each of `kernels`, measured one after the other, several rounds of them:
  // the medians. Recorded for these kernels together. The first error of any.
  absl::StatusOr<std::vector<double>> InTurns(
      absl::Span<const CompiledKernel* const> kernels);

  // Of kernels asked for, each once.
  int measured() const { return measured_; }
  int recorded() const { return recorded_; }  // already, in the store
  int failed() const { return failed_; }      // have no time
  int verified() const { return verified_; }  // now, and right
  int in_turns() const { return in_turns_; }  // comparisons, now
  // What was wrong with the store, the first time; it is used on as far as it
  // goes. Or why nothing could be measured.
  const absl::Status& trouble() const { return trouble_; }

 private:
  struct Known {
    // None: it has not been measured yet. Of an OK one `verification` is.
    std::optional<absl::StatusOr<double>> seconds;
    measure::Verification verification;
  };
  using KnownKernels = std::map<std::string, Known>;  // by candidate
  struct Who {
    const char* const what;  // it does
    const KernelTimesOptions::MeasurerMaker make;
    const double most_seconds;
    absl::StatusOr<measure::Measurer*> measurer;
    bool asked = false;
    int64_t spent_ns = 0;
  };

  KnownKernels& KnownOf(const KernelKey& key);
  bool IsUsable(const measure::Record& record) const;
  static void Learn(const measure::Record& record, KnownKernels& known);
  // The status of nobody if there is nobody to ask, ResourceExhausted if the
  // time for it is over.
  static absl::Status MayAsk(const Who& who);
  // Also Unavailable if nothing can be measured.
  absl::StatusOr<std::vector<measure::Measurement>> Ask(
      Who& who, const measure::WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const measure::MeasureOptions& how = {});
  measure::Record RecordOf(const CompiledKernel& kernel,
                           const measure::WorkloadKey& workload,
                           measure::Measurement measurement) const;
  // Unless that is known. What is wrong with the kernel is recorded.
  absl::Status Verify(const CompiledKernel& kernel,
                      const measure::WorkloadKey& workload,
                      KnownKernels& known);
  // Learns and records what is found of verified kernels, each at once; an
  // error says that not all was.
  absl::Status Measure(const measure::WorkloadKey& workload,
                       const std::vector<const CompiledKernel*>& kernels,
                       KnownKernels& known);
  void Trouble(const absl::Status& status);

  const std::string device_name_, structure_fingerprint_;
  measure::Store* const store_;
  const std::function<void()> on_progress_;
  Clock* const clock_;
  Who measurer_, verifier_;
  std::map<KernelKey, KnownKernels> known_;
  int measured_ = 0, recorded_ = 0, failed_ = 0, verified_ = 0, in_turns_ = 0;
  absl::Status trouble_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNEL_TIMES_H_
