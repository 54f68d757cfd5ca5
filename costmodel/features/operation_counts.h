// Operations of expressions, by kind (Ansor, appendix B). Internal to
// costmodel/features.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_OPERATION_COUNTS_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_OPERATION_COUNTS_H_

#include "sketch/tree/block_tree.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::costmodel {

// Operations on numbers of one sort, floats or integers.
struct ArithmeticCounts {
  double mad = 0;      // a product that is added at once
  double add_sub = 0;  // others, negations among them
  double mul = 0;      // others
  double div_mod = 0;
  double compare = 0;  // comparisons, max, min
  double math = 0;     // exp, log, sqrt, tanh, erf, sigmoid, sin, cos, pow
  double other = 0;    // abs, rounding, isnan, bits
};

struct OperationCounts {
  ArithmeticCounts floats, integers;
  double logic = 0;  // of bools
  double select = 0;

  // All on floats.
  double FloatOperations() const;
};

// Counts the operations of a step of the block: body, combiner, rescaling.
OperationCounts CountOperations(const sketch::Block& block);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_OPERATION_COUNTS_H_
