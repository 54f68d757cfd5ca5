#include "sketch/tree/coverage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sketch/tree/mixed_radix.h"
#include "sketch/tree/tree_edit.h"
#include "sketch/tree/var_digit.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
Coverage CoversOnce(const Block& block, size_t first, size_t count,
                    const std::vector<const Loop*>& loops,
                    const RangeOf& loop_ranges) {
  // The values of splits with a tail are axes like those of the block: each of
  // their values must be taken once, too.
  const Folded folded = FoldTails(
      block.bindings, block.predicates, [](int) { return true; }, loop_ranges);
  struct Covered {
    Expr binding;
    int64_t extent;
    bool asked;
    bool is_cut;  // a predicate keeps it below its extent
  };
  std::vector<Covered> axes;
  for (size_t a = 0; a < folded.bindings.size(); ++a) {
    const Axis& axis = a < block.axes.size()
                           ? block.axes[a]
                           : block.reduce_axes[a - block.axes.size()];
    axes.push_back({folded.bindings[a], axis.extent.value(),
                    a >= first && a < first + count, false});
  }
  std::map<int, int64_t> extents;
  for (const Loop* loop : loops) extents[loop->var] = loop->extent;
  for (auto tail = folded.tails.rbegin(); tail != folded.tails.rend(); ++tail) {
    bool asked = std::any_of(axes.begin(), axes.end(), [&](const Covered& a) {
      return a.asked && Mentions(a.binding, tail->var);
    });
    axes.push_back({tail->value, tail->extent, asked, true});
    if (asked) extents[tail->var] = tail->extent;
  }

  // A loop may be fused from several axes: its digits are looked for in all of
  // them.
  std::map<int, std::vector<VarDigit>> digits_of;
  bool all_known = true;
  for (const Covered& axis : axes) {
    LinearForm form = ToLinear(axis.binding, folded.ranges);
    std::vector<Digit> digits;
    bool known = form.constant == 0;
    for (size_t t = 0; t < form.terms.size(); ++t) {
      std::optional<VarDigit> digit =
          AsDigit(form.terms[t].first, folded.ranges);
      known = known && digit && form.terms[t].second > 0;
      if (!digit) continue;
      digits_of[digit->var].push_back(*digit);
      if (digit->extent > 1)
        digits.push_back({t, form.terms[t].second, digit->extent});
    }
    all_known = all_known && known;
    if (!axis.asked) continue;
    if (!known) return Coverage::kUnknown;
    Walk walk = JoinDigits(form, std::move(digits), 0, folded.predicates,
                           folded.ranges);
    if (axis.is_cut) walk.count = std::min(walk.count, axis.extent);
    if (walk.has_gaps || walk.count < axis.extent ||
        (walk.step != 1 && walk.count != 1))
      return Coverage::kNo;
    // Too much, unless a predicate in another form cuts it off.
    if (walk.has_overlaps || walk.count > axis.extent)
      return folded.predicates.empty() ? Coverage::kNo : Coverage::kUnknown;
  }
  for (const auto& [var, extent] : extents) {
    if (extent == 1) continue;
    if (!AreComplete(digits_of[var], extent))
      return all_known ? Coverage::kNo : Coverage::kUnknown;
  }
  return Coverage::kYes;
}

}  // namespace tilewright::sketch
