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

std::string KeyOf(const sketch::ScheduleProto& schedule,
                  const std::string& kernel_fingerprint) {
  return absl::StrCat(kernel_fingerprint, schedule.SerializeAsString());
}
std::string KeyOf(const CompiledKernel& kernel) {
  return KeyOf(kernel.schedule.ToProto(), KernelFingerprint(kernel));
}

// How often kernels that are measured in turns have theirs.
constexpr int kRounds = 3;

// Of kernels that are measured in turns; their order counts.
std::string TurnsOf(absl::Span<const CompiledKernel* const> kernels) {
  std::string all;
  for (const CompiledKernel* kernel : kernels)
    absl::StrAppend(
        &all, measure::MakeWorkloadKey(kernel->workload.workload).fingerprint(),
        Fingerprint::Of(KeyOf(*kernel)).ToString(), " ");
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
      measurer_{std::move(options.measurer), options.most_measuring_seconds,
                absl::UnavailableError("nobody measures")},
      verifier_{std::move(options.verifier), options.most_verifying_seconds,
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
  return method.threads() == 1 && method.cache() == Method::WARM;
}

// The first time stands, so that plans stay as they are; what is wrong once is
// wrong.
void KernelTimes::Learn(const Record& record, KnownKernels& known) {
  const std::string key =
      absl::StrCat(KeyOf(record.schedule(), record.versions().kernel()),
                   record.measurement().method().turns());
  absl::StatusOr<double> seconds = SecondsOf(record.measurement());
  const bool failed = !seconds.ok();
  const auto [found, added] = known.try_emplace(key, Known{seconds});
  if (failed) found->second.seconds = std::move(seconds);
  found->second.verified |= record.measurement().verification().verified();
}

KernelTimes::KnownKernels& KernelTimes::KnownOf(
    const measure::WorkloadKey& workload) {
  const auto [found, added] = known_.try_emplace(workload.text());
  KnownKernels& known = found->second;
  if (!added || store_ == nullptr) return known;
  measure::StoreQuery query;
  query.workload = workload;
  query.structure_fingerprint = structure_fingerprint_;
  Trouble(store_->ForEach(query, [&](const Record& record) {
    if (IsUsable(record)) Learn(record, known);
    return absl::OkStatus();
  }));
  return known;
}

absl::StatusOr<std::vector<Measurement>> KernelTimes::Ask(
    Who& who, const measure::WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules) {
  if (!who.asked && who.make) who.measurer = who.make();
  who.asked = true;
  TW_RETURN_IF_ERROR(who.measurer.status());
  const double spent_s = 1e-9 * static_cast<double>(who.spent_ns);
  if (spent_s >= who.most_seconds)
    return absl::ResourceExhaustedError(
        absl::StrCat("the ", who.most_seconds, " s for that are over"));
  const int64_t before_ns = clock_->WallNs();
  absl::StatusOr<std::vector<Measurement>> measurements =
      (*who.measurer)->Measure(workload, schedules);
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

absl::Status KernelTimes::Measure(
    Who& who, const measure::WorkloadKey& workload,
    const std::vector<const CompiledKernel*>& kernels, KnownKernels& known) {
  std::vector<sketch::ScheduleProto> schedules;
  for (const CompiledKernel* kernel : kernels)
    schedules.push_back(kernel->schedule.ToProto());
  TW_ASSIGN_OR_RETURN(std::vector<Measurement> measurements,
                      Ask(who, workload, schedules));
  std::vector<Record> records;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!IsAboutTheKernel(measurements[i])) {
      known.try_emplace(
          KeyOf(*kernels[i]),
          Known{absl::UnavailableError(measurements[i].message())});
      continue;
    }
    records.push_back(
        RecordOf(*kernels[i], workload, std::move(measurements[i])));
    Learn(records.back(), known);
  }
  if (store_ != nullptr) Trouble(store_->Append(records));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> KernelTimes::InTurns(
    absl::Span<const CompiledKernel* const> kernels) {
  struct Turn {
    measure::WorkloadKey workload;
    std::vector<sketch::ScheduleProto> schedule;
    KnownKernels* known;
    std::string key;
    std::vector<Measurement> found;  // by round
  };
  const std::string turns = TurnsOf(kernels);
  std::map<std::string, Turn> turn_of;
  std::vector<Turn*> order;  // of all, equal ones once
  std::vector<const CompiledKernel*> distinct;
  for (const CompiledKernel* kernel : kernels) {
    const std::string text = kernel->workload.workload.Text();
    const auto [added, is_new] =
        turn_of.try_emplace(absl::StrCat(text, KeyOf(*kernel)));
    Turn& turn = added->second;
    if (!is_new) continue;
    turn.workload = measure::MakeWorkloadKey(kernel->workload.workload);
    turn.schedule = {kernel->schedule.ToProto()};
    turn.known = &KnownOf(turn.workload);
    turn.key = absl::StrCat(KeyOf(*kernel), turns);
    order.push_back(&turn);
    distinct.push_back(kernel);
  }
  if (std::any_of(order.begin(), order.end(), [](const Turn* turn) {
        return turn->known->count(turn->key) == 0;
      })) {
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
    for (size_t i = 0; i < order.size(); ++i) {
      Turn& turn = *order[i];
      std::sort(turn.found.begin(), turn.found.end(),
                [](const Measurement& a, const Measurement& b) {
                  return *SecondsOf(a) < *SecondsOf(b);
                });
      Measurement& median = turn.found[kRounds / 2];
      median.mutable_method()->set_turns(turns);
      records.push_back(
          RecordOf(*distinct[i], turn.workload, std::move(median)));
      turn.known->insert_or_assign(
          turn.key, Known{SecondsOf(records.back().measurement())});
    }
    if (store_ != nullptr) Trouble(store_->Append(records));
    ++in_turns_;
    if (on_progress_) on_progress_();
  }
  std::vector<double> seconds;
  for (const CompiledKernel* kernel : kernels) {
    const Turn& turn = turn_of.at(
        absl::StrCat(kernel->workload.workload.Text(), KeyOf(*kernel)));
    TW_ASSIGN_OR_RETURN(const double own, turn.known->at(turn.key).seconds);
    seconds.push_back(own);
  }
  return seconds;
}

std::vector<absl::StatusOr<double>> KernelTimes::OneCoreSeconds(
    absl::Span<const CompiledKernel* const> kernels) {
  if (kernels.empty()) return {};
  const measure::WorkloadKey workload =
      measure::MakeWorkloadKey(kernels[0]->workload.workload);
  KnownKernels& known = KnownOf(workload);
  std::vector<std::string> keys;
  std::vector<const CompiledKernel*> unknown;
  std::set<std::string> asked;
  for (const CompiledKernel* kernel : kernels) {
    keys.push_back(KeyOf(*kernel));
    if (!asked.insert(keys.back()).second) continue;
    if (known.count(keys.back())) {
      ++recorded_;
    } else {
      unknown.push_back(kernel);
    }
  }
  if (!unknown.empty()) {
    const absl::Status status = Measure(measurer_, workload, unknown, known);
    if (!absl::IsResourceExhausted(status)) Trouble(status);
    if (status.ok()) measured_ += static_cast<int>(unknown.size());
    for (const std::string& key : keys)
      known.try_emplace(key,
                        Known{absl::IsResourceExhausted(status)
                                  ? status
                                  : absl::UnavailableError(status.message())});
  }
  std::vector<absl::StatusOr<double>> result;
  for (const std::string& key : keys) result.push_back(known.at(key).seconds);
  for (const std::string& key : asked) failed_ += !known.at(key).seconds.ok();
  if (on_progress_) on_progress_();
  return result;
}

absl::Status KernelTimes::Verify(const CompiledKernel& kernel) {
  const measure::WorkloadKey workload =
      measure::MakeWorkloadKey(kernel.workload.workload);
  KnownKernels& known = KnownOf(workload);
  const std::string key = KeyOf(kernel);
  const auto now = [&] {
    const auto found = known.find(key);
    return found == known.end() ? Known{0.0} : found->second;
  };
  if (now().verified || !now().seconds.ok()) return now().seconds.status();
  const absl::Status status = Measure(verifier_, workload, {&kernel}, known);
  if (on_progress_) on_progress_();
  if (absl::IsResourceExhausted(status)) return status;
  Trouble(status);
  if (!status.ok()) return absl::UnavailableError(status.message());
  ++verified_;
  if (now().verified || !now().seconds.ok()) return now().seconds.status();
  return absl::UnavailableError("it could not be verified");
}

}  // namespace tilewright
