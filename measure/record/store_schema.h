// Internal to the store: its tables, and how older files get those of today.
#ifndef TILEWRIGHT_MEASURE_RECORD_STORE_SCHEMA_H_
#define TILEWRIGHT_MEASURE_RECORD_STORE_SCHEMA_H_

#include "absl/status/status.h"
#include "measure/record/sqlite.h"

namespace tilewright::measure {

// Makes an empty file a store, and brings an older one up to date: whole, or
// not at all. A file of something else is InvalidArgument, one that a newer
// version wrote FailedPrecondition; both stay as they are. With `read_only`
// nothing is written: an older store is read as it is.
//
// Versions: 1 had no columns `task` and `lease`.
absl::Status PrepareStore(Database& database, bool read_only);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_STORE_SCHEMA_H_
