// The outcomes that a comparison of two values may have, as bits: for the
// provers that compare kernels on symbols.
#ifndef TILEWRIGHT_MEASURE_TESTING_COMPARISON_OUTCOMES_H_
#define TILEWRIGHT_MEASURE_TESTING_COMPARISON_OUTCOMES_H_

#include <optional>

#include "tilegraph/expr/expr.h"

namespace tilewright::measure {

inline constexpr int kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;

// The outcomes that make the comparison true; nullopt of other operations.
inline std::optional<int> OutcomesOf(Op op) {
  switch (op) {
    case Op::kEq:
      return kEqual;
    case Op::kNe:
      return kLess | kGreater | kUnordered;
    case Op::kLt:
      return kLess;
    case Op::kLe:
      return kLess | kEqual;
    case Op::kGt:
      return kGreater;
    case Op::kGe:
      return kGreater | kEqual;
    default:
      return std::nullopt;
  }
}

// The outcomes of b with a, if `outcomes` are those of a with b.
inline int Turned(int outcomes) {
  return (outcomes & (kEqual | kUnordered)) |
         ((outcomes & kLess) != 0 ? kGreater : 0) |
         ((outcomes & kGreater) != 0 ? kLess : 0);
}

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_COMPARISON_OUTCOMES_H_
