#include "tilegraph/traffic/tile_regions.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright {
namespace {

RangeOf RangesOf(const std::vector<int64_t>& trips) {
  return [&trips](int var) -> std::optional<Range> {
    return Range{0, trips[var] - 1};
  };
}

// All values of base + coefficient * [0, extent) * step, for some axes.
class ProgressionSum {
 public:
  void Add(int64_t coefficient, int64_t count) {
    if (count == 1) return;
    if (coefficient < 0) min_ += coefficient * (count - 1);
    parts_.push_back({std::abs(coefficient), count});
  }
  // The same rules as the inference over expressions has.
  void Finish(TileSpan& span) {
    std::sort(parts_.begin(), parts_.end());
    int64_t step = 1, count = 1;
    for (const auto& [own_step, own_count] : parts_) {
      if (count == 1) {
        step = own_step;
        count = own_count;
      } else if (own_step % step == 0 && own_step / step <= count) {
        count += own_step / step * (own_count - 1);
      } else {
        const int64_t length = step * (count - 1) + own_step * (own_count - 1);
        step = std::gcd(step, own_step);
        count = length / step + 1;
      }
    }
    span.constant += min_;
    span.extent = count;
    span.step = step;
  }

 private:
  int64_t min_ = 0;
  absl::InlinedVector<std::pair<int64_t, int64_t>, 6> parts_;
};

// Whether b's elements are a's too, b starting `distance` behind a.
bool Holds(const TileSpan& a, const TileSpan& b, int64_t distance) {
  if (distance < 0 || distance % a.step != 0) return false;
  if (b.extent > 1 && b.step % a.step != 0) return false;
  return distance + (b.extent - 1) * b.step <= (a.extent - 1) * a.step;
}

std::optional<int64_t> Distance(const TileSpan& a, const TileSpan& b) {
  if (a.moves != b.moves || a.others != b.others) return std::nullopt;
  return b.constant - a.constant;
}

bool Holds(const std::vector<TileCondition>& conditions,
           const TileCondition& one) {
  return std::any_of(
      conditions.begin(), conditions.end(), [&](const TileCondition& other) {
        return Distance(other.span, one.span) == 0 &&
               other.span.extent == one.span.extent &&
               other.span.step == one.span.step && other.size == one.size;
      });
}

bool Holds(const TileBox& a, const TileBox& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    const std::optional<int64_t> distance = Distance(a[d], b[d]);
    if (!distance || !Holds(a[d], b[d], *distance)) return false;
  }
  return true;
}

}  // namespace

void TileRegions::Of(const TileBox& tile, const std::vector<int64_t>& trips,
                     const std::map<TensorId, std::vector<int64_t>>& steps,
                     std::vector<TileNeed>& needs) {
  TW_CHECK_EQ(tile.size(), rank_);
  needs.resize(slots_);
  for (TileNeed& need : needs) need.conditions.clear();
  std::vector<bool> needed(slots_, false);
  for (const size_t output : outputs_) {
    needs[output].box = tile;
    needed[output] = true;
  }
  const size_t inputs = slots_ - members_.size();
  for (Member& member : members_) {
    if (!needed[member.slot]) continue;
    TileNeed& own_need = needs[member.slot];
    const size_t spatial = member.extents.size();
    const std::vector<int64_t>* reduce = &member.reduce_extents;
    if (!steps.empty()) {
      const auto found = steps.find(part_members_[member.slot - inputs]);
      if (found != steps.end()) reduce = &found->second;
    }
    axes_.resize(spatial + reduce->size());
    for (size_t d = 0; d < spatial; ++d) {
      axes_[d] = own_need.box[d];
      if (!Clip(member.extents[d], member.buffered, trips, axes_[d]))
        own_need.conditions.push_back({own_need.box[d], member.extents[d]});
      if (member.buffered) own_need.box[d] = axes_[d];
    }
    for (size_t r = 0; r < reduce->size(); ++r) {
      TileSpan& axis = axes_[spatial + r];
      axis.constant = 0;
      axis.moves.assign(rank_, 0);
      axis.others.clear();
      axis.extent = (*reduce)[r];
      axis.step = 1;
    }
    for (Source& source : member.sources) {
      TileNeed& need = needs[source.slot];
      TileBox& own = needed[source.slot] ? other_ : need.box;
      own.resize(source.rank);
      RegionOf(source.accesses[0], axes_, trips, own);
      for (size_t i = 1; i < source.accesses.size(); ++i) {
        joined_.resize(source.rank);
        RegionOf(source.accesses[i], axes_, trips, joined_);
        Join(joined_, trips, own);
      }
      if (!needed[source.slot]) {
        need.conditions = own_need.conditions;
        needed[source.slot] = true;
        continue;
      }
      Join(own, trips, need.box);
      // Needed for either reader.
      need.conditions.erase(
          std::remove_if(need.conditions.begin(), need.conditions.end(),
                         [&](const TileCondition& condition) {
                           return !Holds(own_need.conditions, condition);
                         }),
          need.conditions.end());
    }
  }
}

void TileRegions::RegionOf(Access& access, const TileBox& axes,
                           const std::vector<int64_t>& trips, TileBox& box) {
  for (const AffineIndex& index : access.affine)
    Affine(index, axes, trips, box[index.dim]);
  for (GeneralIndices& indices : access.general)
    General(indices, axes, trips, box);
}

void TileRegions::Affine(const AffineIndex& index, const TileBox& axes,
                         const std::vector<int64_t>& trips, TileSpan& span) {
  span.constant = index.constant;
  span.moves.assign(rank_, 0);
  span.others.clear();
  ProgressionSum values;
  Expr others;
  for (const auto& [axis, coefficient] : index.axes) {
    const TileSpan& tile = axes[axis];
    span.constant += coefficient * tile.constant;
    for (size_t d = 0; d < rank_; ++d)
      span.moves[d] += coefficient * tile.moves[d];
    for (const auto& [term, own] : tile.others) {
      const Expr product = terms_[term] * Expr::Int(own * coefficient);
      others = others ? others + product : product;
    }
    values.Add(coefficient * tile.step, tile.extent);
  }
  if (others) {
    // Digits may join.
    RegionDim dim = AsRegionDim(span);
    dim.base = dim.base + others;
    span = AsSpan(dim, trips);
  }
  values.Finish(span);
}

void TileRegions::General(GeneralIndices& indices, const TileBox& axes,
                          const std::vector<int64_t>& trips, TileBox& box) {
  // Tiles along which no axis moves are nothing to it.
  std::vector<int64_t> key;
  std::vector<bool> moves(rank_, false);
  for (const int axis : indices.axes) {
    for (size_t d = 0; d < rank_; ++d)
      if (axes[axis].moves[d] != 0 || !axes[axis].others.empty())
        moves[d] = true;
  }
  for (size_t d = 0; d < rank_; ++d) key.push_back(moves[d] ? trips[d] : 1);
  for (const int axis : indices.axes) {
    const TileSpan& tile = axes[axis];
    key.insert(key.end(), {tile.extent, tile.step, tile.constant});
    key.insert(key.end(), tile.moves.begin(), tile.moves.end());
    key.push_back(static_cast<int64_t>(tile.others.size()));
    for (const auto& [term, coefficient] : tile.others)
      key.insert(key.end(), {term, coefficient});
  }
  auto found = indices.known.find(key);
  if (found == indices.known.end()) {
    Region tile(axes.size());
    for (RegionDim& dim : tile) dim.base = Expr::Int(0);
    for (const int axis : indices.axes) tile[axis] = AsRegionDim(axes[axis]);
    TileBox own;
    for (const RegionDim& dim :
         RegionOfIndices(indices.indices, indices.shape, tile, RangesOf(trips)))
      own.push_back(AsSpan(dim, trips));
    found = indices.known.emplace(std::move(key), std::move(own)).first;
  }
  for (size_t i = 0; i < indices.dims.size(); ++i)
    box[indices.dims[i]] = found->second[i];
}

Range TileRegions::RangeOfBase(const TileSpan& span,
                               const std::vector<int64_t>& trips) {
  Range range{span.constant, span.constant};
  const auto add = [&range](int64_t coefficient, int64_t min, int64_t max) {
    range.min += coefficient * (coefficient < 0 ? max : min);
    range.max += coefficient * (coefficient < 0 ? min : max);
  };
  for (size_t d = 0; d < span.moves.size(); ++d)
    add(span.moves[d], 0, trips[d] - 1);
  for (const auto& [term, coefficient] : span.others) {
    std::vector<int64_t> key = {term};
    key.insert(key.end(), trips.begin(), trips.end());
    auto found = term_ranges_.find(key);
    if (found == term_ranges_.end()) {
      const std::optional<Range> known =
          RangeOfExpr(terms_[term], RangesOf(trips));
      TW_CHECK(known) << "a tile starts anywhere: " << terms_[term].ToString();
      found = term_ranges_.emplace(std::move(key), *known).first;
    }
    add(coefficient, found->second.min, found->second.max);
  }
  return range;
}

bool TileRegions::Clip(int64_t extent, bool buffered,
                       const std::vector<int64_t>& trips, TileSpan& span) {
  const Range base = RangeOfBase(span, trips);
  const int64_t last = (span.extent - 1) * span.step;
  const bool always_some = base.min + last >= 0 && base.max < extent;
  const auto stay_at = [&span](int64_t at) {
    span.constant = at;
    std::fill(span.moves.begin(), span.moves.end(), 0);
    span.others.clear();
  };
  if (base.min < 0 || base.max + last >= extent) {
    const int64_t skipped =
        base.min < 0 ? (-base.min + span.step - 1) / span.step : 0;
    const int64_t first = base.min + skipped * span.step;
    const int64_t kept =
        std::min(span.extent - skipped, (extent - 1 - first) / span.step + 1);
    if (base.min == base.max && kept >= 1 && first < extent) {
      stay_at(first);
      span.extent = kept;
    }
  }
  if (buffered && span.extent > 1) {
    span.extent = (span.extent - 1) * span.step + 1;
    span.step = 1;
  }
  if (buffered && span.extent >= extent) {
    stay_at(0);
    span.extent = extent;
    span.step = 1;
  }
  return always_some;
}

void TileRegions::Join(const TileBox& b, const std::vector<int64_t>& trips,
                       TileBox& a) {
  if (Holds(a, b)) return;
  if (Holds(b, a)) {
    a = b;
    return;
  }
  for (size_t d = 0; d < a.size(); ++d) a[d] = JoinSpans(a[d], b[d], trips);
}

TileSpan TileRegions::JoinSpans(const TileSpan& a, const TileSpan& b,
                                const std::vector<int64_t>& trips) {
  if (a.others != b.others) {
    // Digits may cancel.
    return AsSpan(tilewright::Join({AsRegionDim(a)}, {AsRegionDim(b)},
                                   RangesOf(trips))[0],
                  trips);
  }
  const int64_t last_a = (a.extent - 1) * a.step,
                last_b = (b.extent - 1) * b.step;
  const std::optional<int64_t> distance = Distance(a, b);
  if (!distance) {
    TileSpan between = b;
    between.constant -= a.constant;
    for (size_t d = 0; d < rank_; ++d) between.moves[d] -= a.moves[d];
    between.others.clear();
    const Range range = RangeOfBase(between, trips);
    const int64_t low = std::min<int64_t>(0, range.min);
    TileSpan joined = a;
    joined.constant += low;
    joined.extent = std::max(last_a, range.max + last_b) - low + 1;
    joined.step = 1;
    return joined;
  }
  if (Holds(a, b, *distance)) return a;
  if (Holds(b, a, -*distance)) return b;
  const TileSpan &first = *distance < 0 ? b : a,
                 &second = *distance < 0 ? a : b;
  const int64_t gap = std::abs(*distance);
  int64_t step = gap;
  if (first.extent > 1) step = std::gcd(step, first.step);
  if (second.extent > 1) step = std::gcd(step, second.step);
  const int64_t last = std::max((first.extent - 1) * first.step,
                                gap + (second.extent - 1) * second.step);
  TileSpan joined = first;
  joined.step = std::max<int64_t>(step, 1);
  joined.extent = last / joined.step + 1;
  return joined;
}

RegionDim TileRegions::AsRegionDim(const TileSpan& span) const {
  RegionDim dim;
  dim.base = Expr::Int(span.constant);
  for (size_t d = 0; d < span.moves.size(); ++d) {
    if (span.moves[d] == 0) continue;
    dim.base =
        dim.base + Expr::Var(static_cast<int>(d), absl::StrCat("tile", d)) *
                       Expr::Int(span.moves[d]);
  }
  for (const auto& [term, coefficient] : span.others)
    dim.base = dim.base + terms_[term] * Expr::Int(coefficient);
  dim.extent = span.extent;
  dim.step = span.step;
  return dim;
}

TileSpan TileRegions::AsSpan(const RegionDim& dim,
                             const std::vector<int64_t>& trips) {
  TileSpan span;
  const LinearForm form = ToLinear(dim.base, RangesOf(trips));
  span.constant = form.constant;
  span.moves.assign(rank_, 0);
  for (const auto& [term, coefficient] : form.terms) {
    if (term.op() == Op::kVar) {
      span.moves[term.var_id()] = coefficient;
    } else {
      span.others.emplace_back(InternTerm(term), coefficient);
    }
  }
  std::sort(span.others.begin(), span.others.end());
  span.extent = dim.extent;
  span.step = dim.step;
  return span;
}

int TileRegions::InternTerm(const Expr& term) {
  const auto [known, inserted] =
      term_ids_.emplace(term, static_cast<int>(terms_.size()));
  if (inserted) terms_.push_back(term);
  return known->second;
}

}  // namespace tilewright
