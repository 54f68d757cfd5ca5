// Selections proved by cases: which of the inputs that two terms read wins.
#ifndef TILEWRIGHT_MEASURE_TESTING_WINNER_CASES_H_
#define TILEWRIGHT_MEASURE_TESTING_WINNER_CASES_H_

#include "measure/testing/symbolic_terms.h"

namespace tilewright::measure {

// Whether two terms are the same for every input, as both become the same term
// in every case of which input is the largest, or in every case of which is the
// smallest. Of the floats x1, x2, ... that both read there are two cases each:
// xj is the first NaN; or none is NaN and xj is the first that none exceeds.
// One of them holds for every input. In a case, comparisons with xj are known,
// so what is left of a selection (argmax, over steps and lanes in any order) is
// xj's index. Where two floats are equal either stands for both, so zeros may
// have another sign. False if that is not seen, also of many inputs.
bool SameWhicheverWins(Terms& terms, Term a, Term b);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_WINNER_CASES_H_
