#include "backends/lowering/threads/thread_owner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sketch/tree/var_digit.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::lowering {

using kernel_ir::For;
using sketch::AreComplete;
using sketch::AsDigit;
using sketch::VarDigit;

namespace {

const For* LoopOf(const ThreadNest& nest, int var) {
  const auto found = std::find_if(
      nest.begin(), nest.end(), [var](const For* l) { return l->var == var; });
  return found == nest.end() ? nullptr : *found;
}

bool MentionsNest(const Expr& e, const ThreadNest& nest) {
  return std::any_of(nest.begin(), nest.end(),
                     [&](const For* l) { return Mentions(e, l->var); });
}

// Whether each loop's digits are complete, or there are none of it: those loops
// go into `missing`.
bool CompleteOrMissing(const std::map<int, std::vector<VarDigit>>& digits,
                       const ThreadNest& nest, std::set<int>& missing) {
  for (const For* loop : nest) {
    const auto found = digits.find(loop->var);
    if (found == digits.end()) {
      if (loop->extent > 1) missing.insert(loop->var);
    } else if (!AreComplete(found->second, loop->extent)) {
      return false;
    }
  }
  return true;
}

// Whether a form has nothing besides the digit of coefficient c and extent n
// but multiples of c * n and a sum within [0, c).
bool SetsApart(const LinearForm& form, size_t digit, int64_t extent,
               const RangeOf& ranges) {
  const int64_t c = form.terms[digit].second, period = c * extent;
  const int64_t constant = FloorModulo(form.constant, period);
  int64_t least = constant, most = constant;
  for (size_t i = 0; i < form.terms.size(); ++i) {
    const auto& [term, coefficient] = form.terms[i];
    if (i == digit || coefficient % period == 0) continue;
    const std::optional<Range> range = RangeOfExpr(term, ranges);
    if (!range || coefficient < 0) return false;
    least += coefficient * range->min;
    most += coefficient * range->max;
  }
  return least >= 0 && most < c;
}

}  // namespace

std::optional<Owner> OwnerOf(absl::Span<const Expr> index,
                             const ThreadNest& nest, const RangeOf& ranges) {
  Owner owner;
  std::map<int, std::vector<VarDigit>> digits;
  for (size_t d = 0; d < index.size(); ++d) {
    const LinearForm form = ToLinear(index[d], ranges);
    for (size_t t = 0; t < form.terms.size(); ++t) {
      const auto& [term, coefficient] = form.terms[t];
      if (!MentionsNest(term, nest)) continue;
      const std::optional<VarDigit> digit = AsDigit(term, ranges);
      if (!digit || coefficient < 1 ||
          !SetsApart(form, t, digit->extent, ranges))
        return std::nullopt;
      digits[digit->var].push_back(*digit);
      if (digit->extent == 1) continue;
      const int64_t stride = LoopOf(nest, digit->var)->place.stride;
      owner.digits.push_back({static_cast<int>(d), coefficient,
                              stride * digit->div, digit->extent});
    }
  }
  if (!CompleteOrMissing(digits, nest, owner.missing)) return std::nullopt;
  std::sort(owner.digits.begin(), owner.digits.end());
  return owner;
}

std::vector<Expr> IndexWithin(absl::Span<const Expr> index, const Owner& owner,
                              const ThreadNest& nest, const RangeOf& ranges) {
  std::vector<Expr> within;
  for (size_t d = 0; d < index.size(); ++d) {
    LinearForm form = ToLinear(index[d], ranges);
    LinearForm rest;
    rest.constant = form.constant;
    for (auto& term : form.terms) {
      if (!MentionsNest(term.first, nest)) rest.terms.push_back(term);
    }
    // Largest first: what lies above a digit moves down to its place.
    for (auto digit = owner.digits.rbegin(); digit != owner.digits.rend();
         ++digit) {
      if (digit->dim != static_cast<int>(d)) continue;
      const int64_t period = digit->coefficient * digit->extent;
      for (auto& [term, coefficient] : rest.terms) {
        if (coefficient % period == 0) coefficient /= digit->extent;
      }
      const int64_t low = FloorModulo(rest.constant, period);
      rest.constant = (rest.constant - low) / digit->extent + low;
    }
    within.push_back(rest.ToExpr());
  }
  return within;
}

std::vector<Expr> JoinDims(absl::Span<const Expr> index,
                           const std::vector<int64_t>& shape,
                           const RangeOf& ranges) {
  std::vector<Expr> joined;
  std::set<int> moving;  // the variables of the last one
  for (size_t d = 0; d < index.size(); ++d) {
    std::set<int> own = VarsOf(index[d]);
    const bool together = std::any_of(
        own.begin(), own.end(), [&](int var) { return moving.count(var) > 0; });
    // What leaves its dimension would meet the next row.
    const std::optional<Range> range = RangeOfExpr(index[d], ranges);
    if (together && range && range->min >= 0 && range->max < shape[d]) {
      joined.back() = joined.back() * Expr::Int(shape[d]) + index[d];
      moving.insert(own.begin(), own.end());
    } else {
      joined.push_back(index[d]);
      moving = std::move(own);
    }
  }
  return joined;
}

std::optional<std::set<int>> LoopsThatShare(absl::Span<const Expr> index,
                                            const ThreadNest& nest,
                                            const std::set<int>& inside,
                                            const RangeOf& ranges) {
  std::map<int, std::vector<VarDigit>> digits;
  for (const Expr& i : index) {
    if (!MentionsNest(i, nest)) continue;
    const LinearForm form = ToLinear(i, ranges);
    // Coefficient and number of values of each term that moves inside the nest.
    std::vector<std::pair<int64_t, int64_t>> radix;
    for (const auto& [term, coefficient] : form.terms) {
      const bool thread = MentionsNest(term, nest);
      if (!thread && !MentionsAny(term, inside)) continue;
      const std::optional<Range> range = RangeOfExpr(term, ranges);
      if (!range) return std::nullopt;
      radix.emplace_back(std::abs(coefficient), range->max - range->min + 1);
      if (!thread) continue;
      const std::optional<VarDigit> digit = AsDigit(term, ranges);
      if (!digit) return std::nullopt;
      digits[digit->var].push_back(*digit);
    }
    std::sort(radix.begin(), radix.end());
    int64_t below = 0;
    for (const auto& [coefficient, values] : radix) {
      if (values > 1 && coefficient <= below) return std::nullopt;
      below += coefficient * (values - 1);
    }
  }
  std::set<int> missing;
  if (!CompleteOrMissing(digits, nest, missing)) return std::nullopt;
  return missing;
}

}  // namespace tilewright::lowering
