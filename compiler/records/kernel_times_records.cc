// Lookups of kernels in records.
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "compiler/kernels/version.h"
#include "compiler/records/kernel_times.h"
#include "compiler/records/kernel_times_impl.h"
#include "measure/record/workload_key.h"
#include "measure/stats/latency_summary.h"

namespace tilewright {

using measure::Measurement;
using measure::Method;
using measure::Record;

namespace times {

std::string KernelFingerprint(const CompiledKernel& kernel) {
  return Fingerprint::Of(kernel.scalar.ToString()).ToString();
}

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

std::string TurnsOf(absl::Span<const KernelMaker::Key> keys) {
  Fingerprinter all;
  for (const auto& [kernel, tiles] : keys)
    all.AddString(kernel.text()).AddString(tiles);
  return all.Finish().ToString();
}

absl::StatusOr<double> SecondsOf(const Measurement& measurement) {
  if (measurement.outcome() == Measurement::OK)
    return 1e-9 *
           measure::ComparedNs(measurement.latency(), measure::Compared::kLow);
  return absl::FailedPreconditionError(
      absl::StrCat(Measurement::Outcome_Name(measurement.outcome()), ": ",
                   measurement.message()));
}

bool IsAboutTheKernel(const Measurement& measurement) {
  return measurement.outcome() == Measurement::OK ||
         measurement.fault() == Measurement::CANDIDATE;
}

}  // namespace times

using times::CandidateOf;
using times::IsAboutTheKernel;
using times::SecondsOf;
using times::TurnsOf;

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
  const std::string& turns = record.measurement().method().turns();
  const measure::Versions& versions = record.versions();
  std::vector<std::string> names = {
      CandidateOf(record.schedule(), versions.kernel()) + turns};
  if (!versions.maker().empty()) names.push_back(versions.maker() + turns);
  for (const std::string& name : names) {
    Known& one = known[name];
    absl::StatusOr<double> seconds = SecondsOf(record.measurement());
    if (!one.seconds || !seconds.ok()) {
      one.seconds = std::move(seconds);
      one.record = record;
    }
    if (!one.verification.verified())
      one.verification = record.measurement().verification();
  }
}

KernelTimes::KnownKernels& KernelTimes::KnownOf(const KernelKey& key) {
  const auto [found, added] = known_.try_emplace(key);
  KnownKernels& known = found->second;
  if (!added || store_ == nullptr) return known;
  measure::StoreQuery query;
  query.workload = measure::MakeWorkloadKey(key);
  query.structure_fingerprint = structure_fingerprint_;
  std::set<std::string> tuned;  // schedules
  Trouble(store_->ForEach(query, [&](const Record& record) {
    if (IsUsable(record)) Learn(record, known);
    if (record.versions().maker().empty() &&
        record.measurement().verification().verified())
      tuned.insert(record.schedule().SerializeAsString());
    return absl::OkStatus();
  }));
  for (const auto& [name, one] : known) {
    if (!one.record->versions().maker().empty())
      tuned.erase(one.record->schedule().SerializeAsString());
  }
  if (tuned.empty()) return known;
  for (auto one = known.begin(); one != known.end();) {
    const std::string& maker = one->second.record->versions().maker();
    const bool by_maker = !maker.empty() && absl::StartsWith(one->first, maker);
    one = by_maker ? known.erase(one) : std::next(one);
  }
  return known;
}

std::string KernelTimes::MakerOf(const KernelMaker::Key& key) const {
  if (maker_.empty()) return "";
  return Fingerprint::Of(absl::StrCat(maker_, "\n", key.second)).ToString();
}

std::optional<absl::StatusOr<double>> KernelTimes::Find(
    const KernelMaker::Key& key, const std::string& turns) {
  if (maker_.empty()) return std::nullopt;
  const KnownKernels& known = KnownOf(key.first);
  const auto found = known.find(MakerOf(key) + turns);
  if (found == known.end()) return std::nullopt;
  return found->second.seconds;
}

std::optional<absl::StatusOr<double>> KernelTimes::Find(
    const KernelMaker::Key& key) {
  const auto found = Find(key, "");
  recorded_ += found.has_value();
  failed_ += found && !found->ok();
  return found;
}

std::optional<std::vector<double>> KernelTimes::FindInterleaved(
    absl::Span<const KernelMaker::Key> keys) {
  const std::string turns = TurnsOf(keys);
  std::vector<double> seconds;
  for (const KernelMaker::Key& key : keys) {
    const auto found = Find(key, turns);
    if (!found || !found->ok()) return std::nullopt;
    seconds.push_back(**found);
  }
  return seconds;
}

void KernelTimes::Keep(absl::Span<const CompiledKernel* const> kernels) {
  std::vector<KernelMaker::Key> keys;
  for (const CompiledKernel* kernel : kernels)
    keys.push_back(KernelMaker::KeyOf(kernel->workload));
  const std::string turns = keys.size() > 1 ? TurnsOf(keys) : "";
  for (size_t i = 0; i < keys.size(); ++i) {
    KnownKernels& known = KnownOf(keys[i].first);
    const auto found = known.find(CandidateOf(*kernels[i]) + turns);
    if (maker_.empty() || Find(keys[i], turns) || found == known.end() ||
        !found->second.record)
      continue;
    Record record = *found->second.record;
    record.mutable_versions()->set_maker(MakerOf(keys[i]));
    Learn(record, known);
    if (store_ != nullptr && measurer_.make) Trouble(store_->Append(record));
  }
}

}  // namespace tilewright
