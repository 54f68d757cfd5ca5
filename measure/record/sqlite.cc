#include "measure/record/sqlite.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/string_view.h"

namespace tilewright::measure {
namespace {

// How long to wait for another process that is writing.
constexpr int kBusyMilliseconds = 10'000;
constexpr size_t kMostIdle = 100;  // statements

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, bool read_only, const std::string& vfs,
    const std::string& kind) {
  std::unique_ptr<Database> database(new Database(path, kind, read_only));
  const int flags = read_only ? SQLITE_OPEN_READONLY
                              : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path.c_str(), &database->handle_, flags,
                      vfs.empty() ? nullptr : vfs.c_str()) != SQLITE_OK) {
    return database->Error();
  }
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_timeout(database->handle_, kBusyMilliseconds);
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

absl::Status Database::MakeDurable() {
  TW_ASSIGN_OR_RETURN(const std::string mode,
                      Text("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return absl::FailedPreconditionError(
        About("its file system has no shared memory; put it on a local disk"));
  }
  return Execute("PRAGMA synchronous = FULL");
}

absl::Status Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return Error();
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Database::Int(const char* sql) {
  TW_ASSIGN_OR_RETURN(Statement statement, Statement::Prepare(*this, sql));
  TW_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

absl::StatusOr<std::string> Database::Text(const char* sql) {
  TW_ASSIGN_OR_RETURN(Statement statement, Statement::Prepare(*this, sql));
  TW_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? std::string(statement.Bytes(0)) : std::string();
}

std::string Database::About(std::string_view what) const {
  return absl::StrCat(kind_, " ", path_, ": ", ToAbsl(what));
}

absl::StatusOr<int64_t> Database::SchemaVersion(int64_t application_id,
                                                int64_t newest) {
  TW_ASSIGN_OR_RETURN(const int64_t application, Int("PRAGMA application_id"));
  TW_ASSIGN_OR_RETURN(const int64_t tables,
                      Int("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && tables == 0) return 0;
  if (application != application_id) {
    return absl::InvalidArgumentError(
        About("the file is a database of something else; give another path"));
  }
  TW_ASSIGN_OR_RETURN(const int64_t version, Int("PRAGMA user_version"));
  if (version > newest) {
    return absl::FailedPreconditionError(About(
        absl::StrCat("written by a newer version (schema ", version,
                     ", this one knows ", newest, "); use that version")));
  }
  return version;
}

absl::Status Database::Error() const {
  const int code = sqlite3_extended_errcode(handle_);
  const std::string reason = sqlite3_errmsg(handle_);
  if (code == SQLITE_IOERR_SHMSIZE) {
    return absl::ResourceExhaustedError(
        About("the disk is full; free some space and try again"));
  }
  switch (code & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(
          About("the disk is full; free some space and try again"));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(About("out of memory"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          About("another process is writing to it; try again later"));
    case SQLITE_NOTADB:
      return absl::InvalidArgumentError(
          About(absl::StrCat("the file is no ", kind_, "; give another path")));
    case SQLITE_CORRUPT:
      return absl::DataLossError(
          About(absl::StrCat("the file is damaged (", reason,
                             "); export what can be read, or take a copy")));
    case SQLITE_CANTOPEN:
      return absl::NotFoundError(About(
          read_only_ ? "cannot be opened; check that it exists"
                     : "cannot be opened; check that its folder exists and "
                       "may be written to"));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(About("may not be written to"));
    case SQLITE_TOOBIG:
      return absl::InvalidArgumentError(About("a record is too large"));
    default:
      return absl::UnavailableError(About(reason));
  }
}

absl::StatusOr<Statement> Statement::Prepare(Database& database,
                                             std::string_view sql) {
  if (const auto idle = database.idle_.find(std::string(sql));
      idle != database.idle_.end()) {
    sqlite3_stmt* const handle = idle->second;
    database.idle_.erase(idle);
    return Statement(&database, handle);
  }
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(database.handle(), sql.data(),
                         static_cast<int>(sql.size()), &handle,
                         nullptr) != SQLITE_OK) {
    return database.Error();
  }
  return Statement(&database, handle);
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)) {}

Statement::~Statement() {
  if (handle_ == nullptr) return;
  if (database_->idle_.size() >= kMostIdle) {
    sqlite3_finalize(handle_);
    return;
  }
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  database_->idle_.emplace(sqlite3_sql(handle_), handle_);
}

void Statement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(handle_, parameter + 1, value);
}

void Statement::Bind(int parameter, double value) {
  sqlite3_bind_double(handle_, parameter + 1, value);
}

void Statement::BindText(int parameter, std::string_view value) {
  sqlite3_bind_text64(handle_, parameter + 1, value.data(), value.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::BindBlob(int parameter, std::string_view value) {
  sqlite3_bind_blob64(handle_, parameter + 1, value.data(), value.size(),
                      SQLITE_STATIC);
}

absl::StatusOr<bool> Statement::Step() {
  switch (sqlite3_step(handle_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return database_->Error();
  }
}

void Statement::Reset() { sqlite3_reset(handle_); }

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(handle_, column);
}

std::string_view Statement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

absl::StatusOr<Transaction> Transaction::Begin(Database& database) {
  TW_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // SQLite may have rolled back already, after a full disk for example.
  if (database_ != nullptr && !sqlite3_get_autocommit(database_->handle())) {
    (void)database_->Execute("ROLLBACK");
  }
}

absl::Status Transaction::Commit() {
  TW_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return absl::OkStatus();
}

}  // namespace tilewright::measure
