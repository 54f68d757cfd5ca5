// SQLite with statuses: just what the store and the journal of jobs need.
#ifndef TILEWRIGHT_MEASURE_RECORD_SQLITE_H_
#define TILEWRIGHT_MEASURE_RECORD_SQLITE_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::measure {

// A connection to one file. Every error is one line that names the file, says
// what is wrong and what to do:
//   kNotFound            no such file or folder
//   kPermissionDenied    not allowed, or a read-only file system
//   kInvalidArgument     the file is no SQLite database
//   kDataLoss            the file is damaged
//   kResourceExhausted   the disk is full, or memory
//   kUnavailable         another process is writing for too long; the device
//                        failed
class Database {
 public:
  // `vfs`: the name of the file system SQLite should use; empty: its own.
  // `kind`: how errors call the file.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path, bool read_only, const std::string& vfs,
      const std::string& kind = "record store");
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Write-ahead logging, and every commit is on the disk before it is
  // acknowledged. FailedPrecondition where the file system cannot do that.
  absl::Status MakeDurable();

  // Statements without results.
  absl::Status Execute(const char* sql);
  // The first column of the first row, as a number or a text.
  absl::StatusOr<int64_t> Int(const char* sql);
  absl::StatusOr<std::string> Text(const char* sql);

  // The schema of a file that is to be this program's (its application_id); 0:
  // the file is empty. InvalidArgument for a database of something else,
  // FailedPrecondition if a newer program than one that knows schema `newest`
  // wrote it. Writes nothing.
  absl::StatusOr<int64_t> SchemaVersion(int64_t application_id, int64_t newest);

  // The last call's failure as a status.
  absl::Status Error() const;
  // `what` about this file.
  std::string About(std::string_view what) const;

  sqlite3* handle() const { return handle_; }

 private:
  Database(std::string path, std::string kind, bool read_only)
      : path_(std::move(path)), kind_(std::move(kind)), read_only_(read_only) {}

  friend class Statement;

  std::string path_, kind_;
  bool read_only_;
  sqlite3* handle_ = nullptr;
  // Prepared once and idle, by their text: preparing takes longer than a step.
  std::unordered_multimap<std::string, sqlite3_stmt*> idle_;
};

// A prepared statement. Parameters and columns count from 0; texts and blobs
// given to Bind must live until Step.
class Statement {
 public:
  static absl::StatusOr<Statement> Prepare(Database& database,
                                           std::string_view sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) = delete;
  ~Statement();

  void Bind(int parameter, int64_t value);
  void Bind(int parameter, double value);
  void BindText(int parameter, std::string_view value);
  void BindBlob(int parameter, std::string_view value);

  // True if there is a row to read; false when there are no more.
  absl::StatusOr<bool> Step();
  // For the next execution; keeps what is bound.
  void Reset();

  int64_t Int(int column) const;
  // Bytes of a text or blob, valid until the next Step or Reset.
  std::string_view Bytes(int column) const;

 private:
  Statement(Database* database, sqlite3_stmt* handle)
      : database_(database), handle_(handle) {}

  Database* database_;
  sqlite3_stmt* handle_;
};

// All or nothing: rolls back unless committed.
class Transaction {
 public:
  static absl::StatusOr<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&& other) = delete;
  ~Transaction();

  // OK: on the disk.
  absl::Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;  // null when over
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_SQLITE_H_
