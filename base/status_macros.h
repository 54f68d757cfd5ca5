#ifndef TILEWRIGHT_BASE_STATUS_MACROS_H_
#define TILEWRIGHT_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Early return of errors from functions that return absl::Status or
// absl::StatusOr<T>:
//
//   TW_RETURN_IF_ERROR(Write(path, text));
//   TW_ASSIGN_OR_RETURN(Graph graph, ReadGraph(path));
//   TW_ASSIGN_OR_RETURN(graph_, ReadGraph(path));
//
// A type with a comma outside parentheses must be named first (using, auto).

#define TW_RETURN_IF_ERROR(expression)                                    \
  do {                                                                    \
    if (::absl::Status tw_status_ =                                       \
            ::tilewright::status_macros_internal::ToStatus((expression)); \
        !tw_status_.ok()) {                                               \
      return tw_status_;                                                  \
    }                                                                     \
  } while (false)

#define TW_ASSIGN_OR_RETURN(lhs, expression) \
  TW_ASSIGN_OR_RETURN_IMPL_(                 \
      TW_STATUS_MACROS_JOIN_(tw_status_or_, __COUNTER__), lhs, expression)

// Internal.
#define TW_STATUS_MACROS_JOIN_IMPL_(a, b) a##b
#define TW_STATUS_MACROS_JOIN_(a, b) TW_STATUS_MACROS_JOIN_IMPL_(a, b)
#define TW_ASSIGN_OR_RETURN_IMPL_(status_or, lhs, expression) \
  auto status_or = (expression);                              \
  if (!status_or.ok()) {                                      \
    return std::move(status_or).status();                     \
  }                                                           \
  lhs = *std::move(status_or)

namespace tilewright {
namespace status_macros_internal {

inline absl::Status ToStatus(absl::Status status) { return status; }

template <typename T>
absl::Status ToStatus(absl::StatusOr<T> status_or) {
  return std::move(status_or).status();
}

}  // namespace status_macros_internal
}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_STATUS_MACROS_H_
