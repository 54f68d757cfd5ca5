#include "tilegraph/traffic/region_sum.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "base/ceil_div.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/expr/interval.h"

namespace tilewright {
namespace {

// More tiles than this are not looked at one by one.
constexpr int64_t kMostEnumerated = 1 << 16;

// How many of `extent` elements from `base` on, `step` apart, lie in [0, size).
int64_t Inside(int64_t base, int64_t extent, int64_t step, int64_t size) {
  const int64_t first = base < 0 ? CeilDiv(-base, step) : 0;
  const int64_t end =
      base >= size ? 0 : std::min(extent, CeilDiv(size - base, step));
  return std::max<int64_t>(0, end - first);
}

class Summation {
 public:
  Summation(const TileNeed& need, const std::vector<int64_t>& shape,
            const std::vector<int64_t>& trips, TileRegions& regions)
      : trips_(trips), regions_(regions) {
    for (size_t d = 0; d < shape.size(); ++d)
      factors_.push_back({&need.box[d], shape[d], false});
    for (const TileCondition& condition : need.conditions)
      factors_.push_back({&condition.span, condition.size, true});
  }

  double Run() const {
    // Dimensions that move with the same variables are summed together.
    double elements = 1;
    absl::InlinedVector<uint32_t, 6> moves;
    for (const Factor& factor : factors_)
      moves.push_back(Moves(*factor.span, regions_));
    uint32_t moving = 0;
    uint64_t summed = 0;
    Dims dims;
    for (size_t d = 0; d < factors_.size(); ++d) {
      if (summed >> d & 1) continue;
      dims.assign(1, d);
      uint32_t vars = moves[d];
      for (bool grown = true; grown;) {
        grown = false;
        for (size_t e = d + 1; e < factors_.size(); ++e) {
          if ((summed >> e & 1) || (moves[e] & vars) == 0) continue;
          dims.push_back(e);
          vars |= moves[e];
          summed |= uint64_t{1} << e;
          grown = true;
        }
      }
      moving |= vars;
      elements *= SumOver(dims, vars);
    }
    for (size_t v = 0; v < trips_.size(); ++v) {
      if (!(moving >> v & 1)) elements *= static_cast<double>(trips_[v]);
    }
    return elements;
  }

 private:
  using Dims = absl::InlinedVector<size_t, 6>;
  // The elements of a span inside [0, size), or whether there are any.
  struct Factor {
    const TileSpan* span;
    int64_t size;
    bool any;
  };

  // Where nothing is clipped.
  double Whole(size_t d) const {
    return factors_[d].any ? 1 : static_cast<double>(factors_[d].span->extent);
  }

  int64_t BaseAt(size_t d, const std::vector<int64_t>& tile) const {
    const TileSpan& span = *factors_[d].span;
    int64_t base = span.constant;
    for (size_t v = 0; v < tile.size(); ++v) base += span.moves[v] * tile[v];
    for (const auto& [term, coefficient] : span.others)
      base += coefficient * EvalIndex(regions_.Term(term),
                                      [&](int var) { return tile[var]; });
    return base;
  }

  int64_t At(size_t d, const std::vector<int64_t>& tile) const {
    const Factor& factor = factors_[d];
    const int64_t elements = Inside(BaseAt(d, tile), factor.span->extent,
                                    factor.span->step, factor.size);
    return factor.any ? elements > 0 : elements;
  }

  double Product(const Dims& dims, const std::vector<int64_t>& tile) const {
    double elements = 1;
    for (const size_t d : dims) elements *= static_cast<double>(At(d, tile));
    return elements;
  }

  // Tiles [first, end) along `var`, the others as in `tile`, in which nothing
  // of dimension d is clipped.
  // REQUIRES: it moves with `var`, linearly; tile[var] is 0.
  void Unclipped(size_t d, size_t var, const std::vector<int64_t>& tile,
                 int64_t& first, int64_t& end) const {
    const TileSpan& span = *factors_[d].span;
    const int64_t move = span.moves[var], base = BaseAt(d, tile);
    const int64_t last = base + (span.extent - 1) * span.step;
    // 0 <= base + move * t, last + move * t < size
    if (move > 0) {
      first = std::max(first, CeilDiv(std::max<int64_t>(0, -base), move));
      end = std::min(end, FloorDivide(factors_[d].size - 1 - last, move) + 1);
    } else {
      first = std::max(
          first,
          CeilDiv(std::max<int64_t>(0, last - factors_[d].size + 1), -move));
      end = std::min(end, FloorDivide(base, -move) + 1);
    }
  }

  // Over all tiles along `var`, the others as in `tile`. Only those that are
  // clipped are looked at.
  // REQUIRES: all move linearly; tile[var] is 0, and is again afterwards.
  double SumAlong(size_t var, const Dims& dims,
                  std::vector<int64_t>& tile) const {
    double fixed = 1, whole = 1;
    int64_t first = 0, end = trips_[var];
    Dims moving;
    for (const size_t d : dims) {
      if (factors_[d].span->moves[var] == 0) {
        fixed *= static_cast<double>(At(d, tile));
        continue;
      }
      moving.push_back(d);
      whole *= Whole(d);
      Unclipped(d, var, tile, first, end);
    }
    if (fixed == 0) return 0;
    if (first >= end) first = end = 0;
    double sum = static_cast<double>(end - first) * whole;
    int64_t& t = tile[var];
    for (; t < trips_[var]; ++t) {
      if (t == first) t = end;
      if (t < trips_[var]) sum += Product(moving, tile);
    }
    t = 0;
    return fixed * sum;
  }

  double SumOver(const Dims& dims, uint32_t moving) const {
    double tiles = 1;
    absl::InlinedVector<size_t, 6> vars;
    for (size_t v = 0; v < trips_.size(); ++v) {
      if (moving >> v & 1) vars.push_back(v);
    }
    for (const size_t var : vars) tiles *= static_cast<double>(trips_[var]);
    if (std::all_of(dims.begin(), dims.end(), [&](size_t d) {
          const TileSpan& span = *factors_[d].span;
          const Range base = regions_.RangeOfBase(span, trips_);
          return base.min >= 0 &&
                 base.max + (span.extent - 1) * span.step < factors_[d].size;
        })) {
      for (const size_t d : dims) tiles *= Whole(d);
      return tiles;
    }
    std::vector<int64_t> tile(trips_.size(), 0);
    if (vars.empty()) return Product(dims, tile);
    const bool linear = std::all_of(dims.begin(), dims.end(), [&](size_t d) {
      return factors_[d].span->others.empty();
    });
    // Along the longest there is nothing to look at but its ends.
    const auto longest = std::max_element(
        vars.begin(), vars.end(),
        [&](size_t a, size_t b) { return trips_[a] < trips_[b]; });
    const size_t inner = *longest;
    if (linear) {
      vars.erase(longest);
    } else if (tiles > static_cast<double>(kMostEnumerated)) {
      for (const size_t var : vars) tile[var] = trips_[var] / 2;
      return Product(dims, tile) * tiles;
    }
    int64_t count = 1;
    for (const size_t var : vars) count *= trips_[var];
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      for (const size_t var : vars) {
        tile[var] = rest % trips_[var];
        rest /= trips_[var];
      }
      sum += linear ? SumAlong(inner, dims, tile) : Product(dims, tile);
    }
    return sum;
  }

  std::vector<Factor> factors_;
  const std::vector<int64_t>& trips_;
  TileRegions& regions_;
};

}  // namespace

uint32_t Moves(const TileSpan& span, const TileRegions& regions) {
  uint32_t moves = 0;
  for (size_t v = 0; v < span.moves.size(); ++v)
    if (span.moves[v] != 0) moves |= 1u << v;
  for (const auto& [term, coefficient] : span.others) {
    Visit(regions.Term(term), [&](const Expr& e) {
      if (e.op() == Op::kVar) moves |= 1u << e.var_id();
    });
  }
  return moves;
}

double SumOfElements(const TileNeed& need, const std::vector<int64_t>& shape,
                     const std::vector<int64_t>& trips, TileRegions& regions) {
  return Summation(need, shape, trips, regions).Run();
}

}  // namespace tilewright
