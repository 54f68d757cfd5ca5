// Records as JSON lines, for people, scripts and other versions.
#ifndef TILEWRIGHT_MEASURE_RECORD_STORE_JSON_H_
#define TILEWRIGHT_MEASURE_RECORD_STORE_JSON_H_

#include <istream>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"

namespace tilewright::measure {

// One line, without its end: the fields by the names of record.proto, in their
// order. FailedPrecondition if the record has fields that this version does not
// know, which the line could not hold.
absl::StatusOr<std::string> ToJsonLine(const Record& record);

// InvalidArgument if it is no JSON, or has unknown fields, which would be lost.
// Whether the record is valid is not checked.
absl::StatusOr<Record> FromJsonLine(std::string_view line);

// Every record that can be read and matches, in order; then the status of
// Store::ForEach. Unavailable if `out` fails.
absl::Status ExportJsonLines(Store& store, const StoreQuery& query,
                             std::ostream& out);

// All lines of `in`, or none: InvalidArgument names the first that is wrong.
// Empty lines are skipped, records that are there already are counted.
absl::StatusOr<AddedRecords> ImportJsonLines(std::istream& in, Store& store);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_STORE_JSON_H_
