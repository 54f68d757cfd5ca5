#include "frontends/onnx/ops/selection/top_k_picks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "frontends/onnx/ops/common.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

constexpr int64_t kMostPicks = 32;
// Blocks are whole vectors.
constexpr int64_t kLeastBlock = 32;

int64_t StepsOf(int64_t extent, int64_t count, int64_t block) {
  return extent + count * (block + CeilDiv(extent, block));
}

class Picker {
 public:
  Picker(ImportContext& in, const TopKSpec& spec)
      : in_(in),
        spec_(spec),
        shape_(in.op().shape(0)),
        extent_(shape_[spec.axis]),
        block_(PickBlock(extent_, spec.count)),
        blocks_(CeilDiv(extent_, block_)),
        acc_(Combiner::DefaultAccumulator(in.op().dtype(0))) {}

  TensorId Run(std::string result) {
    TensorId firsts = FirstOfBlocks();
    std::vector<TensorId> picks;
    for (int64_t r = 0; r < spec_.count; ++r) {
      const std::string name = absl::StrCat(r, ".");
      picks.push_back(FirstOf(firsts, name));
      if (r + 1 < spec_.count) firsts = Without(picks.back(), firsts, name);
    }
    return in_.Elementwise(
        std::move(result), DType::kInt64, Along(spec_.count), "concat",
        [&](Index index) {
          Expr place;
          for (size_t r = picks.size(); r-- > 0;) {
            const Expr at = Expr::Int(static_cast<int64_t>(r));
            const Expr own =
                in_.At(picks[r], At(index, index[spec_.axis] - at));
            place = place ? SelectExpr(Binary(Op::kLe, index[spec_.axis], at),
                                       own, place)
                          : own;
          }
          return place;
        });
  }

 private:
  Shape Along(int64_t extent) const {
    Shape shape = shape_;
    shape[spec_.axis] = extent;
    return shape;
  }
  std::vector<NamedAxis> AxesAlong(int64_t extent) const {
    return AxesOf(Along(extent));
  }
  // `index` with `at` along the axis.
  std::vector<Expr> At(Index index, const Expr& at) const {
    std::vector<Expr> result(index.begin(), index.end());
    result[spec_.axis] = at;
    return result;
  }
  Expr Value(Index index, const Expr& at) const {
    return CastTo(acc_, in_.At(in_.input(0), At(index, at)));
  }

  // What loses against every element, at whatever place.
  Expr Worst() const { return spec_.largest ? Lowest(acc_) : Highest(acc_); }
  static Expr Nowhere() { return Highest(DType::kInt64); }
  static Expr Exists(const Expr& place, int64_t extent) {
    return Binary(Op::kLt, place, Expr::Int(extent));
  }

  // The place of the first of some elements: those at `place`, a value in range
  // everywhere, that are `taken`.
  struct Element {
    Expr place, taken;
  };
  template <typename Of>  // (index, over) -> Element
  TensorId First(std::string name, int64_t results, int64_t elements,
                 const Of& of) {
    return in_.ArgReduction(
        std::move(name), AxesAlong(results), {{"element", elements}},
        spec_.largest ? Combiner::Kind::kArgMax : Combiner::Kind::kArgMin,
        "pick",
        [&](Index index, Index over) {
          const Element element = of(index, over[0]);
          const Expr value = Value(index, element.place);
          return element.taken ? SelectExpr(element.taken, value, Worst())
                               : value;
        },
        [&](Index index, Index over) {
          const Element element = of(index, over[0]);
          return element.taken
                     ? SelectExpr(element.taken, element.place, Nowhere())
                     : element.place;
        });
  }

  // Element number `over` of a block, if it has so many.
  Element InBlock(const Expr& block, const Expr& over) const {
    Element element{block * Expr::Int(block_) + over, {}};
    if (extent_ % block_ == 0) return element;
    element.taken = Exists(element.place, extent_);
    element.place = Binary(Op::kMin, element.place, Expr::Int(extent_ - 1));
    return element;
  }

  // [.., blocks, ..]; Nowhere of a block without elements.
  TensorId FirstOfBlocks() {
    return First(in_.Name(0, "blocks"), blocks_, block_,
                 [&](Index index, const Expr& over) {
                   return InBlock(index[spec_.axis], over);
                 });
  }

  // [.., 1, ..]: the first of `firsts`.
  TensorId FirstOf(TensorId firsts, const std::string& name) {
    return First(in_.Name(0, name + "pick"), 1, blocks_,
                 [&](Index index, const Expr& over) {
                   const Expr place = in_.At(firsts, At(index, over));
                   return Element{PositionFromData(place, extent_),
                                  Exists(place, extent_)};
                 });
  }

  // `firsts` once `pick` and all before it are gone.
  TensorId Without(TensorId pick, TensorId firsts, const std::string& name) {
    const auto picked = [&](Index index) {
      return PositionFromData(in_.At(pick, At(index, Expr::Int(0))), extent_);
    };
    const TensorId next = First(
        in_.Name(0, name + "next"), 1, block_,
        [&](Index index, const Expr& over) {
          const Expr last = picked(index);
          Element element = InBlock(FloorDiv(last, Expr::Int(block_)), over);
          const Expr mine = Value(index, last),
                     its = Value(index, element.place);
          const Expr behind = Binary(
              Op::kOr, Precedes(mine, its, spec_.largest),
              Binary(Op::kAnd, Binary(Op::kGt, element.place, last),
                     Unary(Op::kNot, Precedes(its, mine, spec_.largest))));
          element.taken = AndAll(element.taken, behind);
          return element;
        });
    return in_.Elementwise(
        in_.Name(0, name + "left"), DType::kInt64, Along(blocks_), "pick",
        [&](Index index) {
          const Expr block = FloorDiv(picked(index), Expr::Int(block_));
          return SelectExpr(Binary(Op::kEq, index[spec_.axis], block),
                            in_.At(next, At(index, Expr::Int(0))),
                            in_.At(firsts, At(index, index[spec_.axis])));
        });
  }

  ImportContext& in_;
  const TopKSpec& spec_;
  const Shape shape_;
  const int64_t extent_, block_, blocks_;
  const DType acc_;
};

}  // namespace

int64_t PickBlock(int64_t extent, int64_t count) {
  int64_t best = extent;
  for (int64_t block = kLeastBlock; block < extent; block *= 2) {
    if (StepsOf(extent, count, block) < StepsOf(extent, count, best))
      best = block;
  }
  return best;
}

int64_t PickSteps(int64_t extent, int64_t count) {
  return StepsOf(extent, count, PickBlock(extent, count));
}

// A NaN wins every reduction, but is the last of the smallest.
bool CanPick(const TopKSpec& spec, DType dtype) {
  return spec.count <= kMostPicks && (spec.largest || !IsFloat(dtype));
}

TensorId PickFirst(ImportContext& in, const TopKSpec& spec, std::string name) {
  return Picker(in, spec).Run(std::move(name));
}

}  // namespace tilewright
