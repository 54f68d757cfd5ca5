// How long kernels take on one core of this machine: what the records tell,
// and what they do not is measured and recorded at once, so that nothing that
// was measured is lost when the process ends.
//
// Only verified kernels have a time: each is verified once, before it is
// measured, and records without a verification are passed over.
//
// Records count if the device, the workload, the schedule and what that was
// lowered to are the same. Of the kernels of a plan's groups they also tell
// which compiler with which settings made them in which tiles: with that a time
// is found without making the kernel (`Find`).
#ifndef TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_H_
#define TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_H_

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
#include "compiler/kernels/kernel_maker.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "tilegraph/plan/kernel_key.h"

namespace tilewright {

inline constexpr double kMeasuringSeconds = 180;

struct KernelTimesOptions {
  // Must outlive it; null: nothing is kept.
  measure::Store* store = nullptr;
  // Tells compilers, and settings of theirs, apart that may make other kernels
  // of a group; empty: kernels have to be made to know their times.
  std::string maker;
  // Who measures kernels with one thread on warm caches, and who verifies them
  // (the times that it finds are not used). Each is asked for once, when
  // something has to be done; they must outlive it. Without a measurer records
  // alone tell.
  using MeasurerMaker = std::function<absl::StatusOr<measure::Measurer*>()>;
  MeasurerMaker measurer, verifier;
  // Called when any of the counts changed.
  std::function<void()> on_progress;
  // Wall time for measuring and verifying together, from the first of it on:
  // what has not been begun by then has no time. The records of another run go
  // on from there.
  double most_seconds = kMeasuringSeconds;
  Clock* clock = RealClock();
};

// Not thread-safe.
class KernelTimes {
 public:
  KernelTimes(const DeviceSpec& spec, KernelTimesOptions options);

  // Times of kernels of one workload, in their order: seconds, the lower decile
  // of the executions when it was measured first. An error is the kernel's (it
  // crashes, its results are wrong), as ResourceExhausted that the time for it
  // was over, as Unavailable that it could not be verified or measured or, as
  // NotFound, that there is no record and nobody measures.
  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      absl::Span<const CompiledKernel* const> kernels);

  // Times of `kernels`, measured one after the other, several rounds of them:
  // the medians. Recorded for these kernels together. The first error of any.
  absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const CompiledKernel* const> kernels);

  // The answers of OneCoreSeconds and Interleaved for the kernels that this
  // compiler makes by these keys, as far as records tell without them. Nothing
  // if a kernel was tuned since: its schedule may be another one now.
  std::optional<absl::StatusOr<double>> Find(const KernelMaker::Key& key);
  std::optional<std::vector<double>> FindInterleaved(
      absl::Span<const KernelMaker::Key> keys);
  // Records of another compiler that are about the same kernels are found from
  // now on, too. Nothing if there are none.
  void Keep(absl::Span<const CompiledKernel* const> kernels);

  // Counts of kernels asked for, each counted once.
  int measured() const { return measured_; }
  int recorded() const { return recorded_; }  // already, in the store
  int failed() const { return failed_; }      // have no time
  int verified() const { return verified_; }  // now, and right
  int interleaved() const { return interleaved_; }  // comparisons, now
  // The first error of the store; it is used on as far as it goes. Or why
  // nothing could be measured.
  const absl::Status& trouble() const { return trouble_; }

 private:
  struct Known {
    // None: it has not been measured yet. Of an OK one `verification` is.
    std::optional<absl::StatusOr<double>> seconds;
    measure::Verification verification;
    std::optional<measure::Record> record;  // that says so
  };
  // By candidate, and by maker.
  using KnownKernels = std::map<std::string, Known>;
  struct Who {
    const KernelTimesOptions::MeasurerMaker make;
    absl::StatusOr<measure::Measurer*> measurer;
    bool asked = false;
  };

  KnownKernels& KnownOf(const KernelKey& key);
  bool IsUsable(const measure::Record& record) const;
  static void Learn(const measure::Record& record, KnownKernels& known);
  // The status of nobody if there is nobody to ask, ResourceExhausted if the
  // time for it is over.
  absl::Status MayAsk(const Who& who);
  // Also Unavailable if nothing can be measured.
  absl::StatusOr<std::vector<measure::Measurement>> Ask(
      Who& who, const measure::WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const measure::MeasureOptions& how = {});
  measure::Record RecordOf(const CompiledKernel& kernel,
                           const measure::WorkloadKey& workload,
                           measure::Measurement measurement) const;
  // Unless that is known, of each. What is wrong with kernels is recorded.
  std::vector<absl::Status> Verify(
      absl::Span<const CompiledKernel* const> kernels,
      const measure::WorkloadKey& workload, KnownKernels& known);
  absl::Status LearnVerified(const CompiledKernel& kernel,
                             const measure::WorkloadKey& workload,
                             const measure::Measurement& measurement,
                             KnownKernels& known);
  // By which records tell the kernel of this key; empty if they cannot.
  std::string MakerOf(const KernelMaker::Key& key) const;
  std::optional<absl::StatusOr<double>> Find(const KernelMaker::Key& key,
                                             const std::string& turns);
  // Learns and records what is found of verified kernels, each at once; an
  // error says that not all was.
  absl::Status Measure(const measure::WorkloadKey& workload,
                       const std::vector<const CompiledKernel*>& kernels,
                       KnownKernels& known);
  void Trouble(const absl::Status& status);

  const std::string device_name_, structure_fingerprint_, maker_;
  measure::Store* const store_;
  const std::function<void()> on_progress_;
  Clock* const clock_;
  const double most_seconds_;
  std::optional<int64_t> began_ns_;  // to measure and verify
  Who measurer_, verifier_;
  std::map<KernelKey, KnownKernels> known_;
  int measured_ = 0, recorded_ = 0, failed_ = 0, verified_ = 0,
      interleaved_ = 0;
  absl::Status trouble_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_RECORDS_KERNEL_TIMES_H_
