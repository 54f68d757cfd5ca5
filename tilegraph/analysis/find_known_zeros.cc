#include <cmath>
#include <optional>
#include <utility>

#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright {
namespace {

class ZeroFinder {
 public:
  ZeroFinder(const TensorGraph& graph,
             const std::map<TensorId, KnownZeros>& given)
      : graph_(graph), given_(given) {}

  std::map<TensorId, KnownZeros> Run() {
    for (const Tensor& tensor : graph_.tensors()) {
      KnownZeros zeros;
      if (tensor.kind == TensorKind::kCompute) {
        zeros = Of(tensor.compute);
      } else if (tensor.kind == TensorKind::kPlaceholder) {
        const auto known = given_.find(tensor.id);
        if (known != given_.end()) zeros = known->second;
      }
      if (!zeros.empty()) found_[tensor.id] = std::move(zeros);
    }
    return std::move(found_);
  }

 private:
  KnownZeros Of(const Compute& compute) const {
    if (compute.combiner || compute.body.size() != 1) return {};
    KnownZeros zeros;
    for (size_t d = 0; d < compute.axes.size(); ++d) {
      const int64_t extent = compute.axes[d].extent.value();
      zeros.before.push_back(Most(extent, [&](int64_t count) {
        return IsZeroWhere(compute, d, {0, count - 1});
      }));
      zeros.after.push_back(
          Most(extent - zeros.before.back(), [&](int64_t count) {
            return IsZeroWhere(compute, d, {extent - count, extent - 1});
          }));
    }
    return zeros;
  }

  // The largest count up to `limit` for which `holds`; what holds for one holds
  // for all smaller ones, and always for 0.
  template <typename Holds>
  static int64_t Most(int64_t limit, Holds holds) {
    if (limit < 1 || !holds(1)) return 0;
    int64_t most = 1, fails = limit + 1;
    while (most + 1 < fails) {
      const int64_t middle = most + (fails - most) / 2;
      (holds(middle) ? most : fails) = middle;
    }
    return most;
  }

  // Whether the compute is zero wherever its axis `d` is in `range`.
  bool IsZeroWhere(const Compute& compute, size_t d, Range range) const {
    return IsZero(compute.body[0], [&](int var) -> std::optional<Range> {
      const size_t axis = static_cast<size_t>(var);
      if (axis == d) return range;
      return Range{0, compute.axes[axis].extent.value() - 1};
    });
  }

  bool IsZero(const Expr& e, const RangeOf& ranges) const {
    switch (e.op()) {
      case Op::kConst:
        return IsFloat(e.dtype())
                   ? e.float_value() == 0 && !std::signbit(e.float_value())
                   : e.int_value() == 0;
      case Op::kCast:
        return IsZero(e.operand(0), ranges);
      case Op::kLoad:
        return LoadsZero(e, ranges);
      case Op::kSelect: {
        const bool on_true = IsZero(e.operand(1), ranges),
                   on_false = IsZero(e.operand(2), ranges);
        if (on_true == on_false) return on_true;
        const Expr condition = Simplify(e.operand(0), ranges);
        return condition.IsIntConst(on_true ? 1 : 0);
      }
      default:
        return false;
    }
  }

  // Elements before the first and behind the last are not loaded: some select
  // does not take this branch.
  bool LoadsZero(const Expr& load, const RangeOf& ranges) const {
    const auto known = found_.find(load.source());
    if (known == found_.end()) return false;
    const KnownZeros& zeros = known->second;
    for (size_t d = 0; d < zeros.before.size(); ++d) {
      if (zeros.before[d] + zeros.after[d] == 0) continue;
      const std::optional<Range> range =
          RangeOfExpr(load.operand(static_cast<int>(d)), ranges);
      const int64_t extent = graph_.tensor(load.source()).shape[d].value();
      if (range && (range->max < zeros.before[d] ||
                    range->min >= extent - zeros.after[d]))
        return true;
    }
    return false;
  }

  const TensorGraph& graph_;
  const std::map<TensorId, KnownZeros>& given_;
  std::map<TensorId, KnownZeros> found_;  // of the tensors seen so far
};

}  // namespace

std::map<TensorId, KnownZeros> FindKnownZeros(
    const TensorGraph& graph, const std::map<TensorId, KnownZeros>& given) {
  return ZeroFinder(graph, given).Run();
}

}  // namespace tilewright
