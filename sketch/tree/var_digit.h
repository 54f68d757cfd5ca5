// Digits of loop variables, (v floordiv d) mod n, as splits and fusions of
// loops leave them in index expressions.
#ifndef TILEWRIGHT_SKETCH_TREE_VAR_DIGIT_H_
#define TILEWRIGHT_SKETCH_TREE_VAR_DIGIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {

// (var floordiv div) mod extent.
struct VarDigit {
  int var;
  int64_t div;
  int64_t extent;
};

// `term` as a digit: a variable from 0 on, divided and taken modulo constants
// that divide what is left of it. nullopt for anything else.
std::optional<VarDigit> AsDigit(const Expr& term, const RangeOf& ranges);

// Whether digits of one variable of so many values are its mixed-radix form,
// each digit once.
bool AreComplete(std::vector<VarDigit> digits, int64_t extent);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_VAR_DIGIT_H_
