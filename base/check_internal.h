#ifndef TILEWRIGHT_BASE_CHECK_INTERNAL_H_
#define TILEWRIGHT_BASE_CHECK_INTERNAL_H_

#include <cstddef>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The implementation of the macros of base/check.h; include that one.

namespace tilewright {
namespace check_internal {

// Takes the rest of the line through stream(), prints it when it is destroyed,
// and aborts.
class Failure {
 public:
  Failure(const char* file, int line, const std::string& what);
  ~Failure();
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;

  // Where the caller adds its explanation, after " ".
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Both integers, one signed, one not: compared by value.
template <typename A, typename B>
constexpr bool MixedSigns() {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    return std::is_signed_v<A> != std::is_signed_v<B>;
  } else {
    return false;
  }
}

template <typename T>
bool IsNegative(T value) {
  if constexpr (std::is_signed_v<T>) {
    return value < 0;
  } else {
    return false;
  }
}

template <typename A, typename B>
bool Equal(const A& a, const B& b) {
  if constexpr (MixedSigns<A, B>()) {
    using U = std::make_unsigned_t<std::common_type_t<A, B>>;
    return !IsNegative(a) && !IsNegative(b) &&
           static_cast<U>(a) == static_cast<U>(b);
  } else {
    return a == b;
  }
}

template <typename A, typename B>
bool Less(const A& a, const B& b) {
  if constexpr (MixedSigns<A, B>()) {
    using U = std::make_unsigned_t<std::common_type_t<A, B>>;
    if (IsNegative(a) || IsNegative(b)) return IsNegative(a);
    return static_cast<U>(a) < static_cast<U>(b);
  } else {
    return a < b;
  }
}

#define TW_CHECK_COMPARE_(name, expression)         \
  struct name {                                     \
    template <typename A, typename B>               \
    bool operator()(const A& a, const B& b) const { \
      return expression;                            \
    }                                               \
  }
TW_CHECK_COMPARE_(CompareEq, Equal(a, b));
TW_CHECK_COMPARE_(CompareNe, !Equal(a, b));
TW_CHECK_COMPARE_(CompareLt, Less(a, b));
TW_CHECK_COMPARE_(CompareGt, Less(b, a));
TW_CHECK_COMPARE_(CompareLe, (Less(a, b) || Equal(a, b)));
TW_CHECK_COMPARE_(CompareGe, (Less(b, a) || Equal(a, b)));
#undef TW_CHECK_COMPARE_

template <typename T, typename = void>
struct Streamable : std::false_type {};
template <typename T>
struct Streamable<T, std::void_t<decltype(std::declval<std::ostream&>()
                                          << std::declval<const T&>())>>
    : std::true_type {};

template <typename T>
void Print(const T& value, std::ostream& out) {
  if constexpr (std::is_null_pointer_v<T>) {
    out << "nullptr";
  } else if constexpr (Streamable<T>::value) {
    out << value;
  } else if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else {
    out << "(a value of " << sizeof(T) << " bytes)";
  }
}

// Null when the comparison holds, else the start of the failure's line.
template <typename A, typename B, typename Compare>
std::unique_ptr<std::string> CheckOp(const A& a, const B& b, Compare compare,
                                     const char* text) {
  if (compare(a, b)) return nullptr;
  std::ostringstream out;
  out << "check failed: " << text << " (";
  Print(a, out);
  out << " vs. ";
  Print(b, out);
  out << ")";
  return std::make_unique<std::string>(out.str());
}

std::unique_ptr<std::string> CheckOk(const absl::Status& status,
                                     const char* text);
template <typename T>
std::unique_ptr<std::string> CheckOk(const absl::StatusOr<T>& status_or,
                                     const char* text) {
  return CheckOk(status_or.status(), text);
}

}  // namespace check_internal
}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_CHECK_INTERNAL_H_
