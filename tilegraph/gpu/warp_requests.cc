#include "tilegraph/gpu/warp_requests.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/ceil_div.h"
#include "tilegraph/expr/index_eval.h"

namespace tilewright {
namespace {

constexpr int64_t kWarpLanes = 32, kAccessBytes = 16;

int64_t ExtentOf(const Compute& compute, size_t axis) {
  const size_t spatial = compute.axes.size();
  return (axis < spatial ? compute.axes[axis]
                         : compute.reduce_axes[axis - spatial])
      .extent.value();
}

bool ReadsData(const Expr& load) {
  bool reads = false;
  for (const Expr& index : load.operands())
    Visit(index, [&](const Expr& e) { reads = reads || e.op() == Op::kLoad; });
  return reads;
}

// Where elements lie: by dimension, in elements of the buffer.
struct Place {
  // `layout`, or the plain one of its shape.
  explicit Place(const Layout& layout) : shape(layout.shape()) {
    const size_t rank = shape.size();
    strides.assign(rank, 0);
    before.assign(rank, 0);
    after.assign(rank, 0);
    bool one_each = layout.digits().size() == rank;
    for (size_t i = 0; one_each && i < rank; ++i) {
      const Layout::Digit& digit = layout.digits()[i];
      int64_t& stride = strides[static_cast<size_t>(digit.dim)];
      one_each = digit.div == 1 && stride == 0;
      stride = layout.stride(static_cast<int>(i));
    }
    if (one_each) {
      before = layout.pad_before();
      after = layout.pad_after();
      base = layout.base();
    } else {
      strides.assign(rank, 1);
      for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    }
  }
  int64_t Offset(const std::vector<int64_t>& index) const {
    int64_t offset = base;
    for (size_t d = 0; d < index.size(); ++d)
      offset += (index[d] + before[d]) * strides[d];
    return offset;
  }

  std::vector<int64_t> shape, strides, before, after;
  int64_t base = 0;
};

// Counts accesses one by one: a block, a warp of it, one of its elements and
// terms.
class Counter {
 public:
  // `within`: the index counts from the block's tile on.
  Counter(const WarpNest& nest, const AffineIndex& index, const Layout& layout,
          int64_t element_bytes, bool within)
      : nest_(nest),
        index_(index),
        place_(layout),
        element_bytes_(element_bytes),
        within_(within),
        spatial_(nest.tile.threads.size()),
        axes_(nest.extents.size()) {
    lane_axis_ = axes_;
    for (size_t a = spatial_; a < axes_; ++a) {
      if (lane_axis_ == axes_ || nest.shape[a] > nest.shape[lane_axis_])
        lane_axis_ = a;
    }
    vector_ = VectorElements();
    // Digits of an access's number, the fastest first.
    for (size_t a = axes_; a-- > 0;) digits_.push_back(Iterations(a));
    digits_.push_back(CeilDiv(nest.threads, kWarpLanes));
    for (const int64_t blocks : nest.grid) digits_.push_back(blocks);
  }

  int64_t accesses() const {
    int64_t product = 1;
    for (const int64_t digit : digits_) product *= digit;
    return product;
  }

  WarpAccess Access(int64_t access) const {
    std::vector<int64_t> iteration(axes_);
    auto digit = digits_.begin();
    for (size_t a = axes_; a-- > 0; ++digit) {
      iteration[a] = access % *digit;
      access /= *digit;
    }
    const int64_t warp = access % *digit;
    access /= *digit++;
    std::vector<int64_t> origin(axes_, 0);
    for (size_t a = 0; a < nest_.grid.size(); ++a, ++digit) {
      origin[a] = access % *digit * nest_.extents[a];
      access /= *digit;
    }
    WarpAccess of_warp;
    of_warp.bytes = vector_ * element_bytes_;
    for (int64_t lane = 0; lane < kWarpLanes; ++lane)
      of_warp.offset_bytes.push_back(
          OffsetOf(iteration, origin, warp * kWarpLanes + lane));
    return of_warp;
  }

 private:
  // In elements of the whole tensor.
  int64_t Move(size_t axis) const {
    int64_t move = 0;
    for (size_t d = 0; d < place_.strides.size(); ++d)
      move += index_.moves[axis][d] * place_.strides[d];
    return move;
  }
  bool Moves(size_t axis) const {
    const std::vector<int64_t>& moves = index_.moves[axis];
    return std::any_of(moves.begin(), moves.end(),
                       [](int64_t move) { return move != 0; });
  }

  // Elements that one access takes along the last axis: as many as are sure to
  // begin at a multiple of their size.
  int64_t VectorElements() const {
    if (spatial_ == 0 || nest_.tile.vector == 1 || Move(spatial_ - 1) != 1 ||
        index_.moves[spatial_ - 1].back() != 1)
      return 1;
    const int64_t vector =
        std::min(nest_.tile.vector, kAccessBytes / element_bytes_);
    bool aligned = place_.Offset(index_.base) % vector == 0 &&
                   nest_.extents[spatial_ - 1] % vector == 0;
    for (size_t a = 0; a < axes_; ++a)
      aligned = aligned && (a + 1 == spatial_ || Move(a) % vector == 0);
    return aligned ? vector : 1;
  }

  int64_t Iterations(size_t axis) const {
    if (!Moves(axis)) return 1;
    if (axis >= spatial_)
      return CeilDiv(nest_.extents[axis],
                     axis == lane_axis_ ? nest_.tile.reduce_threads : 1);
    return axis + 1 == spatial_ ? CeilDiv(nest_.tile.elements[axis], vector_)
                                : nest_.tile.elements[axis];
  }

  int64_t OffsetOf(const std::vector<int64_t>& iteration,
                   const std::vector<int64_t>& origin, int64_t thread) const {
    if (thread >= nest_.threads) return WarpAccess::kIdle;
    std::vector<int64_t> at = iteration;
    const int64_t share = thread % nest_.tile.reduce_threads;
    thread /= nest_.tile.reduce_threads;
    if (lane_axis_ < axes_ && Moves(lane_axis_))
      at[lane_axis_] = at[lane_axis_] * nest_.tile.reduce_threads + share;
    for (size_t a = spatial_; a-- > 0;) {
      const int64_t along = thread % nest_.tile.threads[a];
      thread /= nest_.tile.threads[a];
      const bool last = a + 1 == spatial_;
      const int64_t vector = last ? nest_.tile.vector : 1;
      const int64_t element = last ? at[a] * vector_ : at[a];
      at[a] = element / vector * nest_.tile.threads[a] * vector +
              along * vector + element % vector;
    }
    if (thread > 0) return WarpAccess::kIdle;
    for (size_t a = 0; a < axes_; ++a) {
      if (at[a] >= nest_.extents[a]) return WarpAccess::kIdle;
      if (at[a] + origin[a] >= nest_.shape[a]) return WarpAccess::kIdle;
      if (!within_) at[a] += origin[a];
    }
    std::vector<int64_t> index = index_.base;
    for (size_t d = 0; d < index.size(); ++d) {
      for (size_t a = 0; a < axes_; ++a) index[d] += at[a] * index_.moves[a][d];
      if (index[d] < -place_.before[d] ||
          index[d] >= place_.shape[d] + place_.after[d])
        return WarpAccess::kIdle;
    }
    return place_.Offset(index) * element_bytes_;
  }

  const WarpNest& nest_;
  const AffineIndex& index_;
  const Place place_;
  const int64_t element_bytes_;
  const bool within_;
  const size_t spatial_, axes_;
  size_t lane_axis_;
  int64_t vector_ = 1;
  std::vector<int64_t> digits_;
};

// Of all accesses, or of a sample.
template <typename Of>
double SumOf(const WarpNest& nest, const Counter& counter, Of of) {
  const int64_t all = counter.accesses();
  const int64_t taken = std::min(all, kExactAccesses);
  // A step that shares no divisor with `all` meets every access once; a golden
  // one spreads a sample over all of them.
  int64_t step =
      taken == all ? 1 : static_cast<int64_t>(static_cast<double>(all) * 0.618);
  while (std::gcd(step, all) > 1) ++step;
  int64_t sum = 0, access = 0;
  for (int64_t i = 0; i < taken; ++i) {
    sum += of(counter.Access(access));
    access = (access + step) % all;
  }
  return static_cast<double>(sum) * static_cast<double>(all) /
         static_cast<double>(taken) * static_cast<double>(nest.times);
}

}  // namespace

std::optional<AffineIndex> AffineIndexOf(const Compute& compute,
                                         const Expr& load) {
  if (ReadsData(load)) return std::nullopt;
  const size_t axes = compute.axes.size() + compute.reduce_axes.size();
  const auto at = [&](const Expr& index, size_t axis, int64_t place) {
    std::vector<int64_t> values(axes, 0);
    if (axis < axes) values[axis] = place;
    return EvalIndex(index, values);
  };
  AffineIndex affine;
  affine.moves.resize(axes);
  for (const Expr& index : load.operands()) {
    const int64_t base = at(index, axes, 0);
    affine.base.push_back(base);
    for (size_t axis = 0; axis < axes; ++axis) {
      const int64_t extent = ExtentOf(compute, axis);
      const int64_t move = extent > 1 ? at(index, axis, 1) - base : 0;
      for (const int64_t place : {extent / 2, extent - 1})
        if (at(index, axis, place) - base != move * place) return std::nullopt;
      affine.moves[axis].push_back(move);
    }
  }
  return affine;
}

AffineIndex Through(const AffineIndex& outer, const AffineIndex& inner) {
  const auto apply = [&](const std::vector<int64_t>& at,
                         std::vector<int64_t> from) {
    for (size_t axis = 0; axis < at.size() && axis < inner.moves.size(); ++axis)
      for (size_t d = 0; d < from.size(); ++d)
        from[d] += at[axis] * inner.moves[axis][d];
    return from;
  };
  AffineIndex index;
  index.base = apply(outer.base, inner.base);
  for (const std::vector<int64_t>& moves : outer.moves)
    index.moves.push_back(
        apply(moves, std::vector<int64_t>(inner.base.size(), 0)));
  return index;
}

double RequestedSectors(const WarpNest& nest, const AffineIndex& index,
                        const Layout& layout, int64_t element_bytes,
                        int64_t sector_bytes) {
  return SumOf(
      nest, Counter(nest, index, layout, element_bytes, false),
      [&](const WarpAccess& access) { return Sectors(access, sector_bytes); });
}

double RequestedTurns(const WarpNest& nest, const AffineIndex& index,
                      const std::vector<int64_t>& extents, int64_t row_padding,
                      int64_t element_bytes, const Banks& banks) {
  AffineIndex within = index;
  for (size_t d = 0; d < within.base.size(); ++d) {
    within.base[d] = 0;
    for (size_t a = 0; a < within.moves.size(); ++a)
      within.base[d] -=
          std::min<int64_t>(0, within.moves[a][d]) * (nest.extents[a] - 1);
  }
  std::vector<int64_t> shape = extents;
  if (!shape.empty()) shape.back() += row_padding;
  return SumOf(
      nest, Counter(nest, within, Layout::RowMajor(shape), element_bytes, true),
      [&](const WarpAccess& access) { return BankPasses(access, banks); });
}

}  // namespace tilewright
