// The share of a loop nest's steps that a block takes where conditions leave
// some out: tails, borders, rows computed before. Internal to
// costmodel/features.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_SHARE_OF_STEPS_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_SHARE_OF_STEPS_H_

#include <vector>

#include "absl/types/span.h"
#include "costmodel/features/index_form.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::costmodel {

// The share of points at which all conditions, over loop variables, hold.
// Conditions that share no loop multiply. One linear inequality is exact; so is
// anything over loops of at most 512 points together. Of more points, 256 are
// looked at; inequalities that share loops then are taken to exclude different
// points. Loads are 0.
double ShareOfSteps(absl::Span<const Expr> conditions, const LoopNest& nest);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_SHARE_OF_STEPS_H_
