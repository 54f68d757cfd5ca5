#ifndef TILEWRIGHT_BASE_STATUS_MATCHERS_H_
#define TILEWRIGHT_BASE_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// For tests, on absl::Status and absl::StatusOr<T>:
//
//   EXPECT_THAT(Parse(text), StatusIs(absl::StatusCode::kInvalidArgument,
//                                     "unknown operator"));  // substring
//   EXPECT_THAT(Parse(text), StatusIs(kNotFound, MatchesRegex(".*")));
//   EXPECT_THAT(Sum(1, 2), IsOkAndHolds(3));                 // or a matcher
//   EXPECT_THAT(Write(path), IsOk());
//   TW_EXPECT_OK(Write(path));
//   TW_ASSERT_OK(Write(path));
//   TW_ASSERT_OK_AND_ASSIGN(Graph graph, Parse(text));       // void functions

#define TW_EXPECT_OK(expression) EXPECT_THAT((expression), ::tilewright::IsOk())
#define TW_ASSERT_OK(expression) ASSERT_THAT((expression), ::tilewright::IsOk())
#define TW_ASSERT_OK_AND_ASSIGN(lhs, expression) \
  TW_ASSERT_OK_AND_ASSIGN_IMPL_(                 \
      TW_STATUS_MATCHERS_JOIN_(tw_status_or_, __COUNTER__), lhs, expression)

// Internal.
#define TW_STATUS_MATCHERS_JOIN_IMPL_(a, b) a##b
#define TW_STATUS_MATCHERS_JOIN_(a, b) TW_STATUS_MATCHERS_JOIN_IMPL_(a, b)
#define TW_ASSERT_OK_AND_ASSIGN_IMPL_(status_or, lhs, expression) \
  auto status_or = (expression);                                  \
  ASSERT_THAT(status_or.status(), ::tilewright::IsOk());          \
  lhs = *std::move(status_or)

namespace tilewright {
namespace status_matchers_internal {

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

inline ::testing::Matcher<const std::string&> MessageMatcher(
    const char* substring) {
  return ::testing::HasSubstr(substring);
}
inline ::testing::Matcher<const std::string&> MessageMatcher(
    const std::string& substring) {
  return ::testing::HasSubstr(substring);
}
template <typename M, typename = std::enable_if_t<
                          !std::is_convertible_v<const M&, std::string>>>
::testing::Matcher<const std::string&> MessageMatcher(const M& matcher) {
  return ::testing::SafeMatcherCast<const std::string&>(matcher);
}

}  // namespace status_matchers_internal

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  const absl::Status& status = status_matchers_internal::GetStatus(arg);
  if (!status.ok()) *result_listener << "which is " << status.ToString();
  return status.ok();
}

namespace status_matchers_internal {

MATCHER_P2(StatusIsMatcher, code, message,
           "has status " + absl::StatusCodeToString(code)) {
  const absl::Status& status = GetStatus(arg);
  *result_listener << "which is " << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()),
                                       result_listener);
}

MATCHER_P(IsOkAndHoldsMatcher, inner, "is OK and holds a matching value") {
  if (!arg.ok()) {
    *result_listener << "which is " << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

}  // namespace status_matchers_internal

// `message` is a substring, or a matcher of std::string.
template <typename M>
auto StatusIs(absl::StatusCode code, const M& message) {
  return status_matchers_internal::StatusIsMatcher(
      code, status_matchers_internal::MessageMatcher(message));
}
inline auto StatusIs(absl::StatusCode code) { return StatusIs(code, ""); }

// `inner` is a value or a matcher of it.
template <typename M>
auto IsOkAndHolds(const M& inner) {
  return status_matchers_internal::IsOkAndHoldsMatcher(inner);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_STATUS_MATCHERS_H_
