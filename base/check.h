#ifndef TILEWRIGHT_BASE_CHECK_H_
#define TILEWRIGHT_BASE_CHECK_H_

#include "base/check_internal.h"

// Checks for our own bugs: a failure prints one line with file, line, the
// condition and what was streamed in, then aborts. What users or devices cause
// is an absl::Status instead.
//
//   TW_CHECK(p != nullptr) << "no buffer for " << name;
//   TW_CHECK_EQ(a.size(), b.size());        // prints both values
//   TW_CHECK_OK(Verify(graph));             // prints the status
//   TW_DCHECK_LT(i, n);                     // nothing under NDEBUG
//
// TW_CHECK evaluates its operands exactly once; under NDEBUG TW_DCHECK compiles
// them and never evaluates them. Integers compare by value, so that a size_t
// may stand beside an int.

#define TW_CHECK(condition)                                          \
  while (!(condition))                                               \
  ::tilewright::check_internal::Failure(__FILE__, __LINE__,          \
                                        "check failed: " #condition) \
      .stream()

#define TW_CHECK_EQ(a, b) TW_CHECK_OP_(CompareEq, a, b, #a " == " #b)
#define TW_CHECK_NE(a, b) TW_CHECK_OP_(CompareNe, a, b, #a " != " #b)
#define TW_CHECK_LT(a, b) TW_CHECK_OP_(CompareLt, a, b, #a " < " #b)
#define TW_CHECK_LE(a, b) TW_CHECK_OP_(CompareLe, a, b, #a " <= " #b)
#define TW_CHECK_GT(a, b) TW_CHECK_OP_(CompareGt, a, b, #a " > " #b)
#define TW_CHECK_GE(a, b) TW_CHECK_OP_(CompareGe, a, b, #a " >= " #b)

// `expression` is an absl::Status or an absl::StatusOr<T>.
#define TW_CHECK_OK(expression)                                                \
  while (auto tw_failure_ =                                                    \
             ::tilewright::check_internal::CheckOk((expression), #expression)) \
  ::tilewright::check_internal::Failure(__FILE__, __LINE__, *tw_failure_)      \
      .stream()

#ifdef NDEBUG
#define TW_DCHECK_ while (false)
#else
#define TW_DCHECK_
#endif
#define TW_DCHECK(condition) TW_DCHECK_ TW_CHECK(condition)
#define TW_DCHECK_EQ(a, b) TW_DCHECK_ TW_CHECK_EQ(a, b)
#define TW_DCHECK_NE(a, b) TW_DCHECK_ TW_CHECK_NE(a, b)
#define TW_DCHECK_LT(a, b) TW_DCHECK_ TW_CHECK_LT(a, b)
#define TW_DCHECK_LE(a, b) TW_DCHECK_ TW_CHECK_LE(a, b)
#define TW_DCHECK_GT(a, b) TW_DCHECK_ TW_CHECK_GT(a, b)
#define TW_DCHECK_GE(a, b) TW_DCHECK_ TW_CHECK_GE(a, b)
#define TW_DCHECK_OK(expression) TW_DCHECK_ TW_CHECK_OK(expression)

// Internal.
#define TW_CHECK_OP_(compare, a, b, text)                                 \
  while (auto tw_failure_ = ::tilewright::check_internal::CheckOp(        \
             (a), (b), ::tilewright::check_internal::compare{}, text))    \
  ::tilewright::check_internal::Failure(__FILE__, __LINE__, *tw_failure_) \
      .stream()

#endif  // TILEWRIGHT_BASE_CHECK_H_
