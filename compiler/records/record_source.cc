#include "compiler/records/record_source.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_macros.h"
#include "compiler/records/record_choice.h"
#include "measure/record/record.pb.h"
#include "measure/record/workload_key.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"

namespace tilewright {
namespace {

// The decisions of the generator for this schedule; empty if they no longer
// give its trace, which is then taken as it is.
DecisionTable DecisionsOf(const sketch::Schedule& schedule,
                          const sketch::Workload& workload,
                          const sketch::Generator& generator,
                          const DeviceSpec& spec) {
  PreferredPolicy rest;
  TablePolicy table(sketch::AnswersOf(schedule), rest);
  Decider decider(table);
  const absl::StatusOr<sketch::Schedule> again =
      sketch::Generate(generator, workload, spec, decider);
  return again.ok() && again->instructions == schedule.instructions
             ? decider.decisions()
             : DecisionTable();
}

}  // namespace

absl::StatusOr<std::optional<SourcedSchedule>> RecordSource::Find(
    const sketch::Workload& workload, const sketch::Generator& generator,
    const DeviceSpec& spec) {
  const measure::WorkloadKey key = measure::MakeWorkloadKey(workload);
  measure::StoreQuery query;
  query.workload = key;
  query.structure_fingerprint = StructureFingerprint(spec).ToString();
  query.verified_only = true;
  std::vector<measure::Record> records;
  TW_RETURN_IF_ERROR(store_.ForEach(query, [&](const measure::Record& record) {
    records.push_back(record);
    return absl::OkStatus();
  }));
  std::vector<std::string> notes;
  const std::optional<RecordChoice> choice =
      ChooseRecord(records, workload, generator, spec, notes);
  for (const std::string& note : notes)
    notes_.insert(absl::StrCat(name_, ": [", key.fingerprint(), "] ", note));
  if (!choice) return std::nullopt;
  return SourcedSchedule{
      choice->schedule,
      DecisionsOf(choice->schedule, workload, generator, spec),
      absl::StrFormat("record, %.1f %% faster", 100 * choice->gain)};
}

}  // namespace tilewright
