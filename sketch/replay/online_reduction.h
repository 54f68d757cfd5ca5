// Reductions that follow another one while it still grows: B sums f(x, A) over
// the axes over which A reduces x. In one pass, steps of B use what A is so
// far; when A moves on, from A1 to A2, what B has summed is rescaled: by a
// factor, f(x, A2) = h(A1, A2) · f(x, A1), or by a term that hangs on how many
// steps there were. Which rescaling belongs to which f is a table of rules that
// are found from expressions alone (design: ir.md "rolling_update"; softmax:
// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
// variance: Chan, Golub and LeVeque, "Updating formulae and a pairwise
// algorithm for computing sample variances", 1979).
#ifndef TILEWRIGHT_SKETCH_REPLAY_ONLINE_REDUCTION_H_
#define TILEWRIGHT_SKETCH_REPLAY_ONLINE_REDUCTION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright::sketch {

// A when another block of its steps has been taken.
struct Progress {
  Expr before, now;  // `before` may be A's identity: then B has summed nothing
                     // that counts
  // Steps taken, of A's type; only for rules that count them.
  Expr steps_before, steps_now;
  int64_t steps;  // in the end
};

struct RescalingRule {
  const char* name;
  // The operation that updates B's sums so far: kMul or kAdd with `correction`.
  Op applied;
  Expr (*correction)(const Progress&);
  // The value that steps use in place of A, which may still be its identity.
  Expr (*reference)(const Progress&);
  // Computes the final B from `sums` and the final A.
  Expr (*settled)(const Expr& result, const Expr& sums);
  // Whether it looks at numbers of steps. If so, B has to take x in exactly
  // the steps in which A takes it.
  bool counts;
};

// The rule for a sum of `step`, in which all that reads A is inlined, as loads
// of buffer `a`, which reduces `steps` values. `reduces`: whether A takes that
// value in the same iteration, for the element loaded. nullptr: there is none.
const RescalingRule* FindRescaling(
    const Combiner& a_combiner, const Combiner& b_combiner, const Expr& step,
    int a, int64_t steps,
    const std::function<bool(const Expr& x, const Expr& load)>& reduces);

// A sum of `body` as the sum of fewer factors, `steps`, and what that has to
// become: `whole`, over `sums`. Axes from `spatial` on are reduced. nullopt: no
// factor is the same in all steps, or the values are no floats.
struct FactoredSum {
  Expr steps;
  Expr whole;
};
std::optional<FactoredSum> FactorOut(const Expr& body, int spatial,
                                     const Expr& sums);

// Whether `expr` is `pattern` with expressions for its variables: those in
// `bound`, others are added to it.
bool Matches(const Expr& pattern, const Expr& expr, std::map<int, Expr>& bound);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_ONLINE_REDUCTION_H_
