// Tuning records on disk: an SQLite file in WAL mode, the records as protos
// beside the columns they are found by. Any number of processes may have it
// open, each with a Store of its own; one writes at a time.
//
// A record that Append acknowledged is there after a crash of the process or,
// as far as the disk keeps its promises, of the machine; one that it refused is
// not there in part. Errors are those of sqlite.h, and: FailedPrecondition for
// a store that a newer version wrote. No error changes a file. Opening a store
// of an older version to write brings it up to date; that version then refuses
// it.
#ifndef TILEWRIGHT_MEASURE_RECORD_STORE_H_
#define TILEWRIGHT_MEASURE_RECORD_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "measure/record/record.pb.h"

namespace tilewright::measure {

class Database;
class Statement;

struct StoreOptions {
  bool read_only = false;  // the file must exist; nothing is written
  std::string vfs;  // SQLite's name of a file system; empty: the usual one
};

struct StoreQuery {
  std::optional<WorkloadKey> workload;  // compared by text
  std::string structure_fingerprint;    // of the device; empty: any
  bool verified_only = false;
};

struct AddedRecords {
  int64_t added = 0;
  // The same bytes were there already, or what was measured under the same
  // lease.
  int64_t present = 0;
};

struct StoreStats {
  int64_t records = 0;
  int64_t workloads = 0;  // pairs of workload and device
  int64_t verified = 0;
  int64_t failed = 0;  // outcome not OK
};

// Not thread-safe.
class Store {
 public:
  // Opens or creates. InvalidArgument if the file is something else.
  static absl::StatusOr<std::unique_ptr<Store>> Open(
      const std::string& path, const StoreOptions& options = {});
  ~Store();

  // All of them or, with an error, none. OK: they are on the disk.
  // InvalidArgument if one is not valid (check_record.h). A record with a lease
  // is there once for each task and lease: when it comes again, as after a lost
  // acknowledgement, nothing happens.
  absl::Status Append(absl::Span<const Record> records);
  absl::Status Append(const Record& record);
  // The same, leaving out what is there already.
  absl::StatusOr<AddedRecords> Add(absl::Span<const Record> records);
  // Adds what `other` holds.
  absl::StatusOr<AddedRecords> Merge(Store& other);

  // The verified record of that workload and device with the smallest median;
  // of several such the same one in every store that holds them. NotFound if
  // there is none.
  absl::StatusOr<Record> Best(const WorkloadKey& workload,
                              std::string_view structure_fingerprint);

  // In the order they were added, until `use` returns an error, which is then
  // the result. A damaged record is left out: DataLoss afterwards says how many
  // there are.
  absl::Status ForEach(const StoreQuery& query,
                       const std::function<absl::Status(const Record&)>& use);

  absl::StatusOr<StoreStats> Stats();

  // Reads everything. DataLoss says what is damaged.
  absl::Status CheckIntegrity();

 private:
  explicit Store(std::unique_ptr<Database> database);
  absl::StatusOr<AddedRecords> Insert(
      const std::function<absl::Status(
          const std::function<absl::Status(const Record&)>&)>& for_each,
      bool skip_present);
  absl::StatusOr<Record> ReadRow(const Statement& row) const;

  std::unique_ptr<Database> database_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_STORE_H_
