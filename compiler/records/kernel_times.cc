#include "compiler/records/kernel_times.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "compiler/kernels/version.h"
#include "compiler/records/kernel_times_impl.h"
#include "measure/record/workload_key.h"

namespace tilewright {
namespace {

using measure::Measurement;
using measure::Record;
using times::CandidateOf;
using times::IsAboutTheKernel;
using times::KernelFingerprint;
using times::KeyOf;
using times::SecondsOf;
using times::TurnsOf;

// How often kernels that are measured interleaved have theirs.
constexpr int kRounds = 3;

}  // namespace

KernelTimes::KernelTimes(const DeviceSpec& spec, KernelTimesOptions options)
    : device_name_(spec.name()),
      structure_fingerprint_(StructureFingerprint(spec).ToString()),
      maker_(std::move(options.maker)),
      store_(options.store),
      on_progress_(std::move(options.on_progress)),
      clock_(options.clock),
      most_seconds_(options.most_seconds),
      measurer_{std::move(options.measurer),
                absl::NotFoundError("no record of it, and nobody measures")},
      verifier_{std::move(options.verifier),
                absl::UnavailableError("nobody verifies")} {}

void KernelTimes::Trouble(const absl::Status& status) {
  if (trouble_.ok()) trouble_ = status;
}

absl::Status KernelTimes::MayAsk(const Who& who) {
  if (!who.make) return who.measurer.status();
  if (!began_ns_) began_ns_ = clock_->WallNs();
  if (1e-9 * static_cast<double>(clock_->WallNs() - *began_ns_) < most_seconds_)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the ", most_seconds_, " s for measuring are over"));
}

absl::StatusOr<std::vector<Measurement>> KernelTimes::Ask(
    Who& who, const measure::WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules,
    const measure::MeasureOptions& how) {
  TW_RETURN_IF_ERROR(MayAsk(who));
  if (!who.asked) who.measurer = who.make();
  who.asked = true;
  TW_RETURN_IF_ERROR(who.measurer.status());
  absl::StatusOr<std::vector<Measurement>> measurements =
      (*who.measurer)->Measure(workload, schedules, how);
  if (!measurements.ok()) who.measurer = measurements.status();
  return measurements;
}

Record KernelTimes::RecordOf(const CompiledKernel& kernel,
                             const measure::WorkloadKey& workload,
                             Measurement measurement) const {
  Record record;
  *record.mutable_workload() = workload;
  record.mutable_device()->set_spec(device_name_);
  record.mutable_device()->set_structure_fingerprint(structure_fingerprint_);
  record.mutable_versions()->set_code_generation(kCodeGeneration);
  record.mutable_versions()->set_kernel(KernelFingerprint(kernel));
  record.mutable_versions()->set_maker(
      MakerOf(KernelMaker::KeyOf(kernel.workload)));
  *record.mutable_schedule() = kernel.schedule.ToProto();
  *record.mutable_measurement() = std::move(measurement);
  record.set_unix_ns(clock_->UnixNs());
  return record;
}

std::vector<absl::Status> KernelTimes::Verify(
    absl::Span<const CompiledKernel* const> kernels,
    const measure::WorkloadKey& workload, KnownKernels& known) {
  std::vector<absl::Status> result;
  std::vector<size_t> open;
  std::vector<sketch::ScheduleProto> schedules;
  for (const CompiledKernel* kernel : kernels) {
    const Known& one = known[CandidateOf(*kernel)];
    result.push_back(one.seconds ? one.seconds->status() : absl::OkStatus());
    if (!result.back().ok() || one.verification.verified()) continue;
    open.push_back(result.size() - 1);
    schedules.push_back(kernel->schedule.ToProto());
  }
  if (open.empty()) return result;
  const absl::StatusOr<std::vector<Measurement>> found =
      Ask(verifier_, workload, schedules);
  if (on_progress_) on_progress_();
  for (size_t i = 0; i < open.size(); ++i)
    result[open[i]] = found.ok() ? LearnVerified(*kernels[open[i]], workload,
                                                 (*found)[i], known)
                                 : found.status();
  return result;
}

absl::Status KernelTimes::LearnVerified(const CompiledKernel& kernel,
                                        const measure::WorkloadKey& workload,
                                        const Measurement& measurement,
                                        KnownKernels& known) {
  if (!IsAboutTheKernel(measurement))
    return absl::UnavailableError(measurement.message());
  if (measurement.outcome() != Measurement::OK) {
    const Record record = RecordOf(kernel, workload, measurement);
    Learn(record, known);
    if (store_ != nullptr) Trouble(store_->Append(record));
    return SecondsOf(measurement).status();
  }
  if (!measurement.verification().verified())
    return absl::UnavailableError("it could not be verified");
  known[CandidateOf(kernel)].verification = measurement.verification();
  ++verified_;
  return absl::OkStatus();
}

absl::Status KernelTimes::Measure(
    const measure::WorkloadKey& workload,
    const std::vector<const CompiledKernel*>& kernels, KnownKernels& known) {
  std::vector<sketch::ScheduleProto> schedules;
  for (const CompiledKernel* kernel : kernels)
    schedules.push_back(kernel->schedule.ToProto());
  measure::MeasureOptions how;
  // Each is on the disk before the next one is measured.
  how.on_result = [&](int index, Measurement measurement) {
    const CompiledKernel& kernel = *kernels[static_cast<size_t>(index)];
    Known& one = known.at(CandidateOf(kernel));
    if (!IsAboutTheKernel(measurement)) {
      one.seconds = absl::UnavailableError(measurement.message());
      return;
    }
    if (measurement.outcome() == Measurement::OK)
      *measurement.mutable_verification() = one.verification;
    const Record record = RecordOf(kernel, workload, std::move(measurement));
    Learn(record, known);
    if (store_ != nullptr) Trouble(store_->Append(record));
  };
  return Ask(measurer_, workload, schedules, how).status();
}

absl::StatusOr<std::vector<double>> KernelTimes::Interleaved(
    absl::Span<const CompiledKernel* const> kernels) {
  struct Turn {
    const CompiledKernel* kernel;
    measure::WorkloadKey workload;
    std::vector<sketch::ScheduleProto> schedule;
    KnownKernels* known;
    std::string key;
    std::vector<Measurement> found;  // by round
  };
  std::vector<KernelMaker::Key> keys;
  for (const CompiledKernel* kernel : kernels)
    keys.push_back(KernelMaker::KeyOf(kernel->workload));
  const std::string turns = TurnsOf(keys);
  // By workload and candidate.
  std::map<std::pair<KernelKey, std::string>, Turn> turn_of;
  std::vector<Turn*> order;  // of all, equal ones once
  for (const CompiledKernel* kernel : kernels) {
    const auto [added, is_new] =
        turn_of.try_emplace({KeyOf(*kernel), CandidateOf(*kernel)});
    const auto& [key, candidate] = added->first;
    Turn& turn = added->second;
    if (!is_new) continue;
    turn.kernel = kernel;
    turn.workload = measure::MakeWorkloadKey(key);
    turn.schedule = {kernel->schedule.ToProto()};
    turn.known = &KnownOf(key);
    turn.key = absl::StrCat(candidate, turns);
    order.push_back(&turn);
  }
  if (std::any_of(order.begin(), order.end(), [](const Turn* turn) {
        return turn->known->count(turn->key) == 0;
      })) {
    TW_RETURN_IF_ERROR(MayAsk(measurer_));
    for (Turn* turn : order)
      TW_RETURN_IF_ERROR(
          Verify({turn->kernel}, turn->workload, *turn->known)[0]);
    for (int round = 0; round < kRounds; ++round) {
      for (Turn* turn : order) {
        TW_ASSIGN_OR_RETURN(std::vector<Measurement> found,
                            Ask(measurer_, turn->workload, turn->schedule));
        TW_RETURN_IF_ERROR(IsAboutTheKernel(found[0])
                               ? SecondsOf(found[0]).status()
                               : absl::UnavailableError(found[0].message()));
        turn->found.push_back(std::move(found[0]));
      }
    }
    std::vector<Record> records;
    for (Turn* turn : order) {
      std::sort(turn->found.begin(), turn->found.end(),
                [](const Measurement& a, const Measurement& b) {
                  return *SecondsOf(a) < *SecondsOf(b);
                });
      Measurement& median = turn->found[kRounds / 2];
      median.mutable_method()->set_turns(turns);
      *median.mutable_verification() =
          turn->known->at(CandidateOf(*turn->kernel)).verification;
      records.push_back(
          RecordOf(*turn->kernel, turn->workload, std::move(median)));
      turn->known->erase(turn->key);
      Learn(records.back(), *turn->known);
    }
    if (store_ != nullptr) Trouble(store_->Append(records));
    ++interleaved_;
    if (on_progress_) on_progress_();
  }
  std::vector<double> seconds;
  for (const CompiledKernel* kernel : kernels) {
    const Turn& turn = turn_of.at({KeyOf(*kernel), CandidateOf(*kernel)});
    TW_ASSIGN_OR_RETURN(const double own, *turn.known->at(turn.key).seconds);
    seconds.push_back(own);
  }
  return seconds;
}

std::vector<absl::StatusOr<double>> KernelTimes::OneCoreSeconds(
    absl::Span<const CompiledKernel* const> kernels) {
  if (kernels.empty()) return {};
  const KernelKey key = KeyOf(*kernels[0]);
  const measure::WorkloadKey workload = measure::MakeWorkloadKey(key);
  KnownKernels& known = KnownOf(key);
  // A candidate that has no time now gets none later in this run.
  const auto give_up = [&](const std::string& candidate,
                           const absl::Status& status) {
    known[candidate].seconds = status;
    if (absl::IsUnavailable(status)) Trouble(status);
  };
  std::vector<std::string> candidates;
  std::vector<const CompiledKernel*> open, right;
  std::set<std::string> asked;
  for (const CompiledKernel* kernel : kernels) {
    candidates.push_back(CandidateOf(*kernel));
    if (!asked.insert(candidates.back()).second) continue;
    if (known[candidates.back()].seconds) {
      ++recorded_;
      continue;
    }
    const absl::Status status = MayAsk(measurer_);
    if (status.ok()) {
      open.push_back(kernel);
    } else {
      give_up(candidates.back(), status);
    }
  }
  const std::vector<absl::Status> verified = Verify(open, workload, known);
  for (size_t i = 0; i < open.size(); ++i) {
    if (verified[i].ok()) {
      right.push_back(open[i]);
    } else {
      give_up(CandidateOf(*open[i]), verified[i]);
    }
  }
  if (!right.empty()) {
    const absl::Status status = Measure(workload, right, known);
    if (status.ok()) measured_ += static_cast<int>(right.size());
    for (const CompiledKernel* kernel : right) {
      if (!status.ok()) give_up(CandidateOf(*kernel), status);
    }
  }
  std::vector<absl::StatusOr<double>> result;
  for (const std::string& one : candidates)
    result.push_back(*known.at(one).seconds);
  for (const std::string& one : asked) failed_ += !known.at(one).seconds->ok();
  if (on_progress_) on_progress_();
  return result;
}

}  // namespace tilewright
