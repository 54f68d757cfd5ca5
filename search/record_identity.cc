#include "search/record_identity.h"

#include "absl/strings/str_cat.h"

namespace tilewright::search {

using measure::Measurement;

std::string InstructionsOf(sketch::ScheduleProto schedule) {
  schedule.clear_decisions();
  schedule.clear_generator();
  return schedule.SerializeAsString();
}

std::string MadeBy(const measure::Record& record) {
  measure::Versions versions = record.versions();
  versions.clear_kernel();
  versions.clear_maker();
  return absl::StrCat(record.device().structure_fingerprint(), " ",
                      versions.SerializeAsString());
}

std::string MeasuredBy(const measure::Method& method) {
  return absl::StrCat(method.timer(), " ", method.cache(), " ",
                      method.threads());
}

bool IsOfAComparison(const Measurement& measurement) {
  return !measurement.method().turns().empty();
}

bool IsAboutTheCandidate(const Measurement& measurement) {
  if (measurement.outcome() == Measurement::OUTCOME_UNSPECIFIED ||
      measurement.outcome() == Measurement::NOT_MEASURED)
    return false;
  return measurement.fault() != Measurement::DEVICE &&
         measurement.fault() != Measurement::INFRASTRUCTURE;
}

}  // namespace tilewright::search
