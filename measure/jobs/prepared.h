// Internal to the queue: statements with their parameters.
#ifndef TILEWRIGHT_MEASURE_JOBS_PREPARED_H_
#define TILEWRIGHT_MEASURE_JOBS_PREPARED_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "measure/record/sqlite.h"

namespace tilewright::measure {

// Bytes that are no text.
struct Blob {
  const std::string& bytes;
};

inline void BindOne(Statement& statement, int parameter, int64_t value) {
  statement.Bind(parameter, value);
}
inline void BindOne(Statement& statement, int parameter,
                    const std::string& text) {
  statement.BindText(parameter, text);
}
inline void BindOne(Statement& statement, int parameter, const Blob& blob) {
  statement.BindBlob(parameter, blob.bytes);
}

// A query, to be stepped through. Strings must outlive it.
template <typename... Values>
absl::StatusOr<Statement> Query(Database& database, std::string_view sql,
                                const Values&... values) {
  TW_ASSIGN_OR_RETURN(Statement statement, Statement::Prepare(database, sql));
  int parameter = 0;
  (BindOne(statement, parameter++, values), ...);
  return statement;
}

// A statement without rows.
template <typename... Values>
absl::Status Run(Database& database, std::string_view sql,
                 const Values&... values) {
  TW_ASSIGN_OR_RETURN(Statement statement, Query(database, sql, values...));
  return statement.Step().status();
}

// The first column of the only row; `otherwise`, if there is none.
template <typename... Values>
absl::StatusOr<int64_t> Number(Database& database, int64_t otherwise,
                               std::string_view sql, const Values&... values) {
  TW_ASSIGN_OR_RETURN(Statement statement, Query(database, sql, values...));
  TW_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : otherwise;
}

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_JOBS_PREPARED_H_
