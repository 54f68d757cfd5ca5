// Which records are about the same candidate, made in the same way.
#ifndef TILEWRIGHT_SEARCH_RECORD_IDENTITY_H_
#define TILEWRIGHT_SEARCH_RECORD_IDENTITY_H_

#include <string>

#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::search {

// Equal for schedules that build the same kernel, whatever was decided.
std::string InstructionsOf(sketch::ScheduleProto schedule);

// Equal for records of one device and one compiler.
std::string MadeBy(const measure::Record& record);

// Equal for measurements whose times compare: timer, cache, threads.
std::string MeasuredBy(const measure::Method& method);

// Whether it is a kernel's part of a comparison, whose times compare with the
// others of it alone.
bool IsOfAComparison(const measure::Measurement& measurement);

// False if it was not measured, or device or infrastructure failed.
bool IsAboutTheCandidate(const measure::Measurement& measurement);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_RECORD_IDENTITY_H_
