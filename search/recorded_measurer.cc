#include "search/recorded_measurer.h"

#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "search/record_identity.h"

namespace tilewright::search {
using measure::Measurement;

absl::StatusOr<const RecordedMeasurer::Known*> RecordedMeasurer::KnownOf(
    const measure::WorkloadKey& workload) {
  const auto [place, is_new] = known_.try_emplace(workload.text());
  if (!is_new) return &place->second;
  Known& known = place->second;
  measure::StoreQuery query;
  query.workload = workload;
  query.structure_fingerprint = header_.device().structure_fingerprint();
  const std::string made_by = MadeBy(header_);
  TW_RETURN_IF_ERROR(store_.ForEach(query, [&](const measure::Record& record) {
    if (record.seed() == header_.seed() && MadeBy(record) == made_by &&
        !IsOfAComparison(record.measurement())) {
      known.emplace(InstructionsOf(record.schedule()), record.measurement());
    }
    return absl::OkStatus();
  }));
  return &known;
}

measure::Record RecordedMeasurer::RecordOf(
    const measure::WorkloadKey& workload, const sketch::ScheduleProto& schedule,
    const Measurement& measurement) const {
  measure::Record record = header_;
  *record.mutable_workload() = workload;
  *record.mutable_schedule() = schedule;
  *record.mutable_measurement() = measurement;
  record.set_unix_ns(clock_.UnixNs());
  return record;
}

absl::Status RecordedMeasurer::KeepComparison(
    const measure::WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules,
    absl::Span<const Measurement> measurements) {
  TW_CHECK_EQ(schedules.size(), measurements.size());
  std::vector<measure::Record> records;
  for (size_t i = 0; i < schedules.size(); ++i) {
    const bool failed = measurements[i].outcome() != Measurement::OK &&
                        IsAboutTheCandidate(measurements[i]);
    if (failed || IsOfAComparison(measurements[i]))
      records.push_back(RecordOf(workload, schedules[i], measurements[i]));
  }
  return store_.Append(records);
}

void RecordedMeasurer::Keep(const measure::WorkloadKey& workload,
                            const sketch::ScheduleProto& schedule,
                            const Measurement& measurement) {
  if (!IsAboutTheCandidate(measurement)) return;
  ++measured_;
  trouble_.Update(store_.Append(RecordOf(workload, schedule, measurement)));
}

absl::StatusOr<std::vector<Measurement>> RecordedMeasurer::DoMeasure(
    const measure::MeasureBatch& batch) {
  if (batch.alone) return MeasureAndKeep(batch);
  const measure::MeasureOptions& options = batch.options;
  TW_ASSIGN_OR_RETURN(const Known* known, KnownOf(batch.workload));
  std::vector<Measurement> results(batch.schedules.size());
  std::vector<sketch::ScheduleProto> unknown;
  std::vector<int> index;  // of these
  for (size_t i = 0; i < batch.schedules.size(); ++i) {
    const auto found = known->find(InstructionsOf(batch.schedules[i]));
    if (found == known->end()) {
      unknown.push_back(batch.schedules[i]);
      index.push_back(static_cast<int>(i));
      continue;
    }
    ++replayed_;
    results[i] = found->second;
    if (options.on_result)
      options.on_result(static_cast<int>(i), found->second);
  }
  if (unknown.empty()) return results;
  measure::MeasureOptions inner = options;
  if (options.on_result) {
    inner.on_result = [&](int i, const Measurement& measurement) {
      options.on_result(index[static_cast<size_t>(i)], measurement);
    };
  }
  if (options.wanted) {
    inner.wanted = [&](int i, const measure::BuildReport& report) {
      return options.wanted(index[static_cast<size_t>(i)], report);
    };
  }
  TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measured,
                      MeasureAndKeep({batch.workload, unknown, inner}));
  for (size_t k = 0; k < measured.size(); ++k)
    results[static_cast<size_t>(index[k])] = measured[k];
  return results;
}

absl::StatusOr<std::vector<Measurement>> RecordedMeasurer::MeasureAndKeep(
    const measure::MeasureBatch& batch) {
  measure::MeasureOptions inner = batch.options;
  inner.on_result = [&](int i, const Measurement& measurement) {
    Keep(batch.workload, batch.schedules[static_cast<size_t>(i)], measurement);
    if (batch.options.on_result) batch.options.on_result(i, measurement);
  };
  TW_ASSIGN_OR_RETURN(
      std::vector<Measurement> measured,
      measurer_.Measure({batch.workload, batch.schedules, inner, batch.alone}));
  TW_RETURN_IF_ERROR(trouble_);
  return measured;
}

}  // namespace tilewright::search
