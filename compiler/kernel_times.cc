#include "compiler/kernel_times.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "compiler/version.h"
#include "measure/latency_summary.h"
#include "measure/workload_key.h"

namespace tilewright {
namespace {

using measure::Measurement;
using measure::Method;
using measure::Record;

std::string KernelFingerprint(const CompiledKernel& kernel) {
  return Fingerprint::Of(kernel.scalar.ToString()).ToString();
}

// Which of a workload's candidates: its schedule, and what that was lowered to.
std::string CandidateOf(const sketch::ScheduleProto& schedule,
                        const std::string& kernel_fingerprint) {
  return absl::StrCat(kernel_fingerprint, schedule.SerializeAsString());
}
std::string CandidateOf(const CompiledKernel& kernel) {
  return CandidateOf(kernel.schedule.ToProto(), KernelFingerprint(kernel));
}

KernelKey KeyOf(const CompiledKernel& kernel) {
  return KernelKey(kernel.workload.workload.Text());
}

// How often kernels that are measured in turns have theirs.
constexpr int kRounds = 3;

// Of kernels that are measured in turns; their order counts.
std::string TurnsOf(absl::Span<const CompiledKernel* const> kernels) {
  std::string all;
  for (const CompiledKernel* kernel : kernels)
    absl::StrAppend(&all, KeyOf(*kernel).fingerprint().ToString(),
                    Fingerprint::Of(CandidateOf(*kernel)).ToString(), " ");
  return Fingerprint::Of(all).ToString();
}

// What a measurement says of its kernel; only of what IsAboutTheKernel.
absl::StatusOr<double> SecondsOf(const Measurement& measurement) {
  if (measurement.outcome() == Measurement::OK)
    return 1e-9 *
           measure::ComparedNs(measurement.latency(), measure::Compared::kLow);
  return absl::FailedPreconditionError(
      absl::StrCat(Measurement::Outcome_Name(measurement.outcome()), ": ",
                   measurement.message()));
}

// Not of the device, nor of the processes around it.
bool IsAboutTheKernel(const Measurement& measurement) {
  return measurement.outcome() == Measurement::OK ||
         measurement.fault() == Measurement::CANDIDATE;
}

}  // namespace

KernelTimes::KernelTimes(const DeviceSpec& spec, KernelTimesOptions options)
    : device_name_(spec.name()),
      structure_fingerprint_(StructureFingerprint(spec).ToString()),
      store_(options.store),
      on_progress_(std::move(options.on_progress)),
      clock_(options.clock),
      measurer_{"measuring", std::move(options.measurer),
                options.most_measuring_seconds,
                absl::NotFoundError("no record of it, and nobody measures")},
      verifier_{"verifying", std::move(options.verifier),
                options.most_verifying_seconds,
                absl::UnavailableError("nobody verifies")} {}

void KernelTimes::Trouble(const absl::Status& status) {
  if (trouble_.ok()) trouble_ = status;
}

bool KernelTimes::IsUsable(const Record& record) const {
  const Measurement& measurement = record.measurement();
  if (record.versions().code_generation() != kCodeGeneration ||
      record.versions().kernel().empty() || !IsAboutTheKernel(measurement))
    return false;
  if (measurement.outcome() != Measurement::OK) return true;
  const Method& method = measurement.method();
  return measurement.verification().verified() && method.threads() == 1 &&
         method.cache() == Method::WARM;
}

// The first time stands, so that plans stay as they are; what is wrong once is
// wrong.
void KernelTimes::Learn(const Record& record, KnownKernels& known) {
  Known& one = known[absl::StrCat(
      CandidateOf(record.schedule(), record.versions().kernel()),
      record.measurement().method().turns())];
  absl::StatusOr<double> seconds = SecondsOf(record.measurement());
  if (!one.seconds || !seconds.ok()) one.seconds = std::move(seconds);
  if (!one.verification.verified())
    one.verification = record.measurement().verification();
}

KernelTimes::KnownKernels& KernelTimes::KnownOf(const KernelKey& key) {
  const auto [found, added] = known_.try_emplace(key);
  KnownKernels& known = found->second;
  if (!added || store_ == nullptr) return known;
  measure::StoreQuery query;
  query.workload = measure::MakeWorkloadKey(key);
  query.structure_fingerprint = structure_fingerprint_;
  Trouble(store_->ForEach(query, [&](const Record& record) {
    if (IsUsable(record)) Learn(record, known);
    return absl::OkStatus();
  }));
  return known;
}

absl::Status KernelTimes::MayAsk(const Who& who) {
  if (!who.make) return who.measurer.status();
  if (1e-9 * static_cast<double>(who.spent_ns) < who.most_seconds)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the ", who.most_seconds, " s for ", who.what, " are over"));
}

absl::StatusOr<std::vector<Measurement>> KernelTimes::Ask(
    Who& who, const measure::WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules,
    const measure::MeasureOptions& how) {
  TW_RETURN_IF_ERROR(MayAsk(who));
  if (!who.asked) who.measurer = who.make();
  who.asked = true;
  TW_RETURN_IF_ERROR(who.measurer.status());
  const int64_t before_ns = clock_->WallNs();
  absl::StatusOr<std::vector<Measurement>> measurements =
      (*who.measurer)->Measure(workload, schedules, how);
  who.spent_ns += clock_->WallNs() - before_ns;
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
  *record.mutable_schedule() = kernel.schedule.ToProto();
  *record.mutable_measurement() = std::move(measurement);
  record.set_unix_ns(clock_->UnixNs());
  return record;
}

absl::Status KernelTimes::Verify(const CompiledKernel& kernel,
                                 const measure::WorkloadKey& workload,
                                 KnownKernels& known) {
  Known& one = known[CandidateOf(kernel)];
  if (one.seconds && !one.seconds->ok()) return one.seconds->status();
  if (one.verification.verified()) return absl::OkStatus();
  const absl::StatusOr<std::vector<Measurement>> found =
      Ask(verifier_, workload, {kernel.schedule.ToProto()});
  if (on_progress_) on_progress_();
  TW_RETURN_IF_ERROR(found.status());
  const Measurement& measurement = found->front();
  if (!IsAboutTheKernel(measurement))
    return absl::UnavailableError(measurement.message());
  if (measurement.outcome() != Measurement::OK) {
    if (store_ != nullptr)
      Trouble(store_->Append({RecordOf(kernel, workload, measurement)}));
    return SecondsOf(measurement).status();
  }
  if (!measurement.verification().verified())
    return absl::UnavailableError("it could not be verified");
  one.verification = measurement.verification();
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

absl::StatusOr<std::vector<double>> KernelTimes::InTurns(
    absl::Span<const CompiledKernel* const> kernels) {
  struct Turn {
    const CompiledKernel* kernel;
    measure::WorkloadKey workload;
    std::vector<sketch::ScheduleProto> schedule;
    KnownKernels* known;
    std::string key;
    std::vector<Measurement> found;  // by round
  };
  const std::string turns = TurnsOf(kernels);
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
      TW_RETURN_IF_ERROR(Verify(*turn->kernel, turn->workload, *turn->known));
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
    ++in_turns_;
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
  // What cannot be told now cannot be told later in this run either.
  const auto give_up = [&](const std::string& candidate,
                           const absl::Status& status) {
    known[candidate].seconds = status;
    if (absl::IsUnavailable(status)) Trouble(status);
  };
  std::vector<std::string> candidates;
  std::vector<const CompiledKernel*> right;
  std::set<std::string> asked;
  for (const CompiledKernel* kernel : kernels) {
    candidates.push_back(CandidateOf(*kernel));
    if (!asked.insert(candidates.back()).second) continue;
    if (known[candidates.back()].seconds) {
      ++recorded_;
      continue;
    }
    absl::Status status = MayAsk(measurer_);
    if (status.ok()) status = Verify(*kernel, workload, known);
    if (status.ok()) {
      right.push_back(kernel);
    } else {
      give_up(candidates.back(), status);
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
