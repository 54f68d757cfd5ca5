// The region one load reads while inner variables run: per dimension, the set
// of values of a linear form over digits of them.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/region/region_impl.h"

namespace tilewright::region_internal {
namespace {

// Sets of values of up to this many combinations are enumerated where no rule
// decides.
constexpr int64_t kMaxEnumerated = 4096;

// min + step · [0, count).
struct Progression {
  int64_t min = 0;
  int64_t step = 1;
  int64_t count = 1;
};

// A digit of one inner variable: (var floordiv div) mod extent.
struct Digit {
  int var;
  int64_t div;
  int64_t extent;
};

std::optional<Digit> AsDigit(const Expr& term, const RangeOf& ranges) {
  auto positive = [](const Expr& e) {
    return e.op() == Op::kConst && e.int_value() > 0;
  };
  Expr rest = term;
  int64_t extent = 0, div = 1;
  if (rest.op() == Op::kFloorMod && positive(rest.operand(1))) {
    extent = rest.operand(1).int_value();
    rest = Expr(rest.operand(0));
  }
  if (rest.op() == Op::kFloorDiv && positive(rest.operand(1))) {
    div = rest.operand(1).int_value();
    rest = Expr(rest.operand(0));
  }
  if (rest.op() != Op::kVar || rest.var_id() < kInner) return std::nullopt;
  int64_t values = ranges(rest.var_id())->max / div + 1;
  return Digit{rest.var_id(), div,
               extent == 0 ? values : std::min(extent, values)};
}

// Whether the digits of a variable with `count` values take every combination
// of values.
bool Independent(std::vector<Digit> digits, int64_t count) {
  if (digits.size() == 1) return true;
  std::sort(digits.begin(), digits.end(),
            [](const Digit& a, const Digit& b) { return a.div < b.div; });
  for (size_t i = 0; i < digits.size(); ++i) {
    int64_t above = digits[i].div * digits[i].extent;
    if (count % above != 0) return false;
    if (i + 1 < digits.size() && digits[i + 1].div % above != 0) return false;
  }
  return true;
}

// Leaves each value once, ascending.
template <typename Values>
void SortUnique(Values& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

class LoadAnalysis {
 public:
  LoadAnalysis(absl::Span<const Expr> indices, const RangeOf& ranges)
      : ranges_(ranges) {
    std::map<int, std::vector<Digit>> digits;
    std::set<int> tangled;  // variables that are not seen through digits alone
    for (const Expr& index : indices) {
      forms_.push_back(ToLinear(index, ranges));
      for (const auto& [term, coefficient] : forms_.back().terms) {
        if (std::optional<Digit> digit = AsDigit(term, ranges)) {
          digits[digit->var].push_back(*digit);
        } else {
          Uses uses = UsesOf(term);
          tangled.insert(uses.inner.begin(), uses.inner.end());
        }
      }
    }
    for (const auto& [var, of_var] : digits) {
      if (!tangled.count(var) && Independent(of_var, Count(var)))
        free_.insert(var);
    }
  }

  Region Run(absl::Span<const int64_t> shape) {
    Region region;
    for (size_t d = 0; d < forms_.size(); ++d)
      region.push_back(Dimension(forms_[d], shape[d]));
    MarkDependentDimensions(region);
    return region;
  }

 private:
  int64_t Count(int var) const { return ranges_(var)->max + 1; }

  RegionDim Dimension(const LinearForm& form, int64_t shape) {
    RegionDim dim;
    std::vector<Progression> parts;
    Expr base = Expr::Int(form.constant);
    LinearForm rest;  // inner variables only, not free
    for (const auto& [term, coefficient] : form.terms) {
      Uses uses = UsesOf(term);
      if (uses.inner.empty() && !uses.load) {
        base = base + term * Expr::Int(coefficient);
        continue;
      }
      if (std::optional<Digit> digit = AsDigit(term, ranges_);
          digit && free_.count(digit->var)) {
        parts.push_back(
            {coefficient < 0 ? coefficient * (digit->extent - 1) : 0,
             std::abs(coefficient), digit->extent});
        continue;
      }
      if (!uses.load && !uses.outer) {
        rest.terms.emplace_back(term, coefficient);
        continue;
      }
      std::optional<Hull> hull = HullOf(term, ranges_);
      if (!hull)
        return RegionDim{Expr::Int(0), shape, 1, false,
                         uses.load ? "the index depends on data"
                                   : "the index has no known bounds"};
      if (dim.exact)
        dim.why = uses.load ? "the index depends on data"
                            : "the tile crosses digits of " + term.ToString();
      dim.exact = false;
      if (coefficient < 0) hull->lo = hull->lo + Expr::Int(hull->width);
      base = base + hull->lo * Expr::Int(coefficient);
      parts.push_back({0, std::abs(coefficient), hull->width + 1});
    }
    AddRest(rest, parts, dim);
    Merge(parts, dim, base);
    dim.base = Simplify(base, ranges_);
    return dim;
  }

  // Terms over inner variables that are no free digits.
  void AddRest(const LinearForm& rest, std::vector<Progression>& parts,
               RegionDim& dim) {
    std::set<int> vars;
    for (const auto& [term, coefficient] : rest.terms) {
      Uses uses = UsesOf(term);
      if (term.op() != Op::kVar)
        vars.insert(uses.inner.begin(), uses.inner.end());
    }
    LinearForm group;
    for (const auto& [term, coefficient] : rest.terms) {
      if (term.op() != Op::kVar || vars.count(term.var_id())) {
        group.terms.emplace_back(term, coefficient);
      } else {
        int64_t count = Count(term.var_id());
        parts.push_back({coefficient < 0 ? coefficient * (count - 1) : 0,
                         std::abs(coefficient), count});
      }
    }
    if (group.terms.empty()) return;
    std::vector<int64_t> values;
    Expr tree = group.ToExpr();
    bool enumerated = Enumerate(vars, [&](const ValueOf& value) {
      values.push_back(EvalIndex(tree, value));
    });
    if (enumerated) {
      SortUnique(values);
      int64_t step = 0;
      for (int64_t v : values) step = std::gcd(step, v - values.front());
      if (step == 0) step = 1;
      int64_t count = (values.back() - values.front()) / step + 1;
      if (count != static_cast<int64_t>(values.size()))
        Inexact(dim, "the tile has gaps in " + tree.ToString());
      parts.push_back({values.front(), step, count});
      return;
    }
    std::optional<Range> range = RangeOfExpr(tree, ranges_);
    Inexact(dim, "too many values to tell of " + tree.ToString());
    parts.push_back({range->min, 1, range->max - range->min + 1});
  }

  static void Merge(std::vector<Progression>& parts, RegionDim& dim,
                    Expr& base) {
    std::sort(parts.begin(), parts.end(),
              [](const Progression& a, const Progression& b) {
                return a.step < b.step;
              });
    int64_t step = 1, count = 1, min = 0;
    for (const Progression& part : parts) {
      min += part.min;
      if (part.count == 1) continue;
      if (count == 1) {
        step = part.step;
        count = part.count;
      } else if (part.step % step == 0 && part.step / step <= count) {
        count += part.step / step * (part.count - 1);
      } else {
        int64_t span = step * (count - 1) + part.step * (part.count - 1);
        Inexact(dim, part.step % step == 0 ? "the tile has gaps"
                                           : "steps do not divide each other");
        step = std::gcd(step, part.step);
        count = span / step + 1;
      }
    }
    base = base + Expr::Int(min);
    dim.extent = count;
    dim.step = step;
  }

  // Dimensions that share an inner variable form a box only if all combinations
  // occur.
  void MarkDependentDimensions(Region& region) {
    std::vector<std::set<int>> vars(forms_.size());
    for (size_t d = 0; d < forms_.size(); ++d) {
      for (const auto& [term, coefficient] : forms_[d].terms) {
        for (int var : UsesOf(term).inner) {
          if (!free_.count(var)) vars[d].insert(var);
        }
      }
    }
    std::vector<bool> done(forms_.size(), false);
    for (size_t first = 0; first < forms_.size(); ++first) {
      if (done[first] || vars[first].empty()) continue;
      std::vector<size_t> dims = {first};
      std::set<int> joint = vars[first];
      done[first] = true;
      for (size_t k = 0; k < dims.size(); ++k) {
        for (size_t d = 0; d < forms_.size(); ++d) {
          bool shares = std::any_of(vars[d].begin(), vars[d].end(),
                                    [&](int v) { return joint.count(v) > 0; });
          if (done[d] || !shares) continue;
          done[d] = true;
          dims.push_back(d);
          joint.insert(vars[d].begin(), vars[d].end());
        }
      }
      if (dims.size() == 1 || AllCombinationsOccur(dims, joint)) continue;
      for (size_t d : dims)
        Inexact(region[d], "dimensions depend on each other");
    }
  }

  bool AllCombinationsOccur(const std::vector<size_t>& dims,
                            const std::set<int>& vars) {
    std::vector<Expr> parts;
    for (size_t d : dims) {
      LinearForm inner;
      for (const auto& [term, coefficient] : forms_[d].terms) {
        Uses uses = UsesOf(term);
        if (uses.inner.empty() || (AsDigit(term, ranges_) &&
                                   free_.count(AsDigit(term, ranges_)->var)))
          continue;
        if (uses.outer || uses.load) return false;
        inner.terms.emplace_back(term, coefficient);
      }
      parts.push_back(inner.ToExpr());
    }
    std::vector<absl::InlinedVector<int64_t, 4>> tuples;
    std::vector<std::vector<int64_t>> each(parts.size());
    bool enumerated = Enumerate(vars, [&](const ValueOf& value) {
      tuples.emplace_back();
      for (size_t i = 0; i < parts.size(); ++i) {
        each[i].push_back(EvalIndex(parts[i], value));
        tuples.back().push_back(each[i].back());
      }
    });
    if (!enumerated) return false;
    SortUnique(tuples);
    size_t combinations = 1;
    for (std::vector<int64_t>& values : each) {
      SortUnique(values);
      combinations *= values.size();
    }
    return tuples.size() == combinations;
  }

  // Calls fn at every assignment of `vars`; false, and no call, if there are
  // too many.
  template <typename Fn>
  bool Enumerate(const std::set<int>& vars, const Fn& fn) const {
    int64_t total = 1;
    for (int var : vars) {
      if (__builtin_mul_overflow(total, Count(var), &total) ||
          total > kMaxEnumerated)
        return false;
    }
    std::map<int, int64_t> at;
    for (int var : vars) at[var] = 0;
    ValueOf value = [&](int id) { return at[id]; };
    for (int64_t i = 0; i < total; ++i) {
      fn(value);
      for (auto& [var, x] : at) {
        if (++x < Count(var)) break;
        x = 0;
      }
    }
    return true;
  }

  static void Inexact(RegionDim& dim, std::string why) {
    if (!dim.exact) return;
    dim.exact = false;
    dim.why = std::move(why);
  }

  const RangeOf& ranges_;
  std::vector<LinearForm> forms_;
  std::set<int> free_;  // inner variables all of whose occurrences are digits
                        // independent of each other
};

}  // namespace

RangeOf TileOfAxes::ranges() const {
  return [this](int id) -> std::optional<Range> {
    if (id >= kInner) return Range{0, axes[id - kInner].extent - 1};
    return outer(id);
  };
}

Expr TileOfAxes::Substitute(const Expr& e) const {
  return tilewright::Substitute(e, [this](int axis) {
    Expr inner = Expr::Var(kInner + axis, "t" + std::to_string(axis));
    return axes[axis].base + inner * Expr::Int(axes[axis].step);
  });
}

Region RegionOfLoad(absl::Span<const Expr> indices,
                    absl::Span<const int64_t> shape, const TileOfAxes& tile) {
  RangeOf ranges = tile.ranges();
  std::vector<Expr> inside;
  for (const Expr& index : indices) inside.push_back(tile.Substitute(index));
  Region region = LoadAnalysis(inside, ranges).Run(shape);
  for (size_t d = 0; d < indices.size(); ++d) {
    Visit(indices[d], [&](const Expr& e) {
      if (e.op() != Op::kVar || tile.axes[e.var_id()].exact || !region[d].exact)
        return;
      region[d].exact = false;
      region[d].why = tile.axes[e.var_id()].why;
    });
  }
  return region;
}

}  // namespace tilewright::region_internal
