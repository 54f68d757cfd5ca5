// The first elements of each row in their order. Without sorting in the
// language: a few are picked one after the other (top_k_picks.h). Of more, an
// element's rank is how many come before it, and place r has the element of
// rank r, block by block and round by round (top_k_rounds.h). All steps are
// alike, and the answer is the same on every device.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/selection/top_k_picks.h"
#include "frontends/onnx/ops/selection/top_k_rounds.h"
#include "frontends/onnx/ops/selection/top_k_spec.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Comparisons of one node: some seconds of a core.
constexpr int64_t kMostComparisons = int64_t{1} << 33;
constexpr int64_t kMostExtent = int64_t{1} << 30;

// A step of a pick waits for the one before, comparisons do not: that many take
// as long.
constexpr int64_t kComparisonsOfPickStep = 4;

struct Way {
  bool picks;
  int64_t comparisons;  // of one row
};

Way ChooseWay(const TopKSpec& spec, DType dtype, int64_t extent) {
  const Way rounds = {false,
                      Comparisons(TopKRounds(extent, spec.count), spec.count)};
  if (!CanPick(spec, dtype)) return rounds;
  const Way picks = {true,
                     kComparisonsOfPickStep * PickSteps(extent, spec.count)};
  return picks.comparisons < rounds.comparisons ? picks : rounds;
}

absl::StatusOr<TopKSpec> ReadTopK(const OpContext& op) {
  TopKSpec spec;
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_ASSIGN_OR_RETURN(spec.axis, op.Axis(op.Int("axis", -1), op.rank(0)));
  std::vector<int64_t> counts = {op.Int("k", 0)};
  if (op.opset() >= 10) {
    TW_ASSIGN_OR_RETURN(counts, op.ConstInts(1));
  }
  const int64_t extent = op.shape(0)[spec.axis];
  if (counts.size() != 1 || counts[0] < 0 || counts[0] > extent) {
    return op.Error("k is [", absl::StrJoin(counts, ", "),
                    "] where one number from 0 to ", extent, " is needed");
  }
  spec.count = counts[0];
  spec.largest = op.Int("largest", 1) != 0;
  if (spec.count == 0) return spec;
  const int64_t rows = Product(op.shape(0), 0, op.shape(0).size()) / extent;
  if (extent > kMostExtent ||
      rows >
          kMostComparisons / ChooseWay(spec, op.dtype(0), extent).comparisons) {
    return op.Unsupported("the first ", spec.count, " of each of ", rows,
                          " rows of ", extent, " elements");
  }
  return spec;
}

absl::Status InferTopK(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const TopKSpec spec, ReadTopK(op));
  Shape shape = op.shape(0);
  shape[spec.axis] = spec.count;
  op.SetOutput(0, op.dtype(0), shape);
  op.SetOutput(1, DType::kInt64, std::move(shape));
  return absl::OkStatus();
}

// Elements that may be among the first, in their order along the axis.
struct Candidates {
  TensorId values;
  std::optional<TensorId> places;  // in the input; none: their own
  int64_t extent = 0;
};

// The computes of one node, round by round. What a round makes has a dimension
// of blocks before the axis.
class TopKRows {
 public:
  TopKRows(ImportContext& in, const TopKSpec& spec)
      : in_(in), spec_(spec), shape_(in.op().shape(0)) {}

  // The places of the first elements, i64.
  TensorId Run(std::string name) {
    const int64_t extent = shape_[spec_.axis];
    Candidates candidates = {in_.input(0), std::nullopt, extent};
    const std::vector<TopKRound> rounds = TopKRounds(extent, spec_.count);
    for (size_t i = 0; i + 1 < rounds.size(); ++i)
      candidates = FirstOfBlocks(candidates, rounds[i], absl::StrCat(i, "."));
    const TensorId element = FirstElements(candidates, rounds.back(), "");
    return in_.Elementwise(
        std::move(name), DType::kInt64, Flat(spec_.count), "place",
        [&](Index index) {
          const Expr at =
              in_.At(element, InBlock(index, Expr::Int(0), index[spec_.axis]));
          return PlaceOf(candidates, at, index);
        });
  }

 private:
  Shape Flat(int64_t extent) const {
    Shape shape = shape_;
    shape[spec_.axis] = extent;
    return shape;
  }
  Shape Blocked(int64_t blocks, int64_t extent) const {
    Shape shape = Flat(extent);
    shape.insert(shape.begin() + spec_.axis, blocks);
    return shape;
  }
  std::vector<NamedAxis> BlockedAxes(int64_t blocks, int64_t extent) const {
    return AxesOf(Blocked(blocks, extent));
  }

  // An index into something flat, with the axis at `at`.
  std::vector<Expr> Along(Index index, const Expr& at) const {
    std::vector<Expr> flat(index.begin(), index.end());
    flat[spec_.axis] = at;
    return flat;
  }
  // Of an index into something in blocks: an index into something flat.
  std::vector<Expr> AlongRow(Index index, const Expr& at) const {
    std::vector<Expr> flat(index.begin(), index.end());
    flat.erase(flat.begin() + spec_.axis);
    flat[spec_.axis] = at;
    return flat;
  }
  // Of an index into something flat: an index into something in blocks.
  std::vector<Expr> InBlock(Index index, const Expr& block,
                            const Expr& element) const {
    std::vector<Expr> blocked = Along(index, element);
    blocked.insert(blocked.begin() + spec_.axis, block);
    return blocked;
  }

  // For each block the elements of ranks 0, 1, ...: [.., blocks, count, ..].
  // The values have every element of the last block. Equal ones keep their
  // order.
  TensorId FirstElements(const Candidates& from, const TopKRound& round,
                         const std::string& name) {
    const int axis = spec_.axis;
    const DType compared =
        Combiner::DefaultAccumulator(in_.dtype_of(from.values));
    const auto value = [&](Index index, const Expr& element) {
      const Expr at = index[axis] * Expr::Int(round.block) + element;
      return CastTo(compared, in_.At(from.values, AlongRow(index, at)));
    };
    const TensorId rank = in_.Reduction(
        in_.Name(0, name + "rank"), DType::kInt32,
        BlockedAxes(round.blocks(), round.block), {{"other", round.block}},
        Combiner::Kind::kSum, "rank", [&](Index index, Index other) {
          const Expr& element = index[axis + 1];
          const Expr mine = value(index, element), its = value(index, other[0]);
          const Expr before =
              SelectExpr(Binary(Op::kLt, other[0], element),
                         Unary(Op::kNot, Precedes(mine, its, spec_.largest)),
                         Precedes(its, mine, spec_.largest));
          return SelectExpr(before, Literal(DType::kInt32, 1),
                            Literal(DType::kInt32, 0));
        });
    return in_.Reduction(
        in_.Name(0, name + "element"), DType::kInt64,
        BlockedAxes(round.blocks(), spec_.count), {{"element", round.block}},
        Combiner::Kind::kMax, "place", [&](Index index, Index element) {
          std::vector<Expr> at(index.begin(), index.end());
          at[axis + 1] = element[0];
          return SelectExpr(
              Binary(Op::kEq, CastTo(DType::kInt64, in_.At(rank, at)),
                     index[axis + 1]),
              element[0], Expr::Int(0));
        });
  }

  // Where in the input the candidate at `at`, read from a tensor, lies.
  Expr PlaceOf(const Candidates& from, const Expr& at, Index index) const {
    if (!from.places) return at;
    return in_.At(*from.places,
                  Along(index, PositionFromData(at, from.extent)));
  }

  Candidates FirstOfBlocks(Candidates from, const TopKRound& round,
                           const std::string& name) {
    const int axis = spec_.axis;
    // What no element comes behind fills the last block: it loses against all
    // that there are, since they are more than are asked for and come first.
    const DType dtype = in_.dtype_of(from.values);
    const Expr last = spec_.largest    ? Lowest(dtype)
                      : IsFloat(dtype) ? Literal(dtype, std::nan(""))
                                       : Highest(dtype);
    std::vector<int64_t> before(shape_.size(), 0), behind = before;
    behind[axis] = round.blocks() * round.block - round.extent;
    from.values = PadDims(in_, in_.Name(0, name + "padded"), from.values,
                          before, behind, last);
    const TensorId element = FirstElements(from, round, name);
    // Flat: what position `at` of the results, which are in blocks, has.
    const auto position = [&](Index index) {
      const Expr at = index[axis], count = Expr::Int(spec_.count);
      const Expr block = FloorDiv(at, count);
      return block * Expr::Int(round.block) +
             in_.At(element, InBlock(index, block, FloorMod(at, count)));
    };
    Candidates first;
    first.extent = round.blocks() * spec_.count;
    first.values = in_.Elementwise(
        in_.Name(0, name + "values"), dtype, Flat(first.extent), "gather",
        [&](Index index) {
          return in_.At(
              from.values,
              Along(index, PositionFromData(position(index),
                                            round.blocks() * round.block)));
        });
    first.places = in_.Elementwise(
        in_.Name(0, name + "places"), DType::kInt64, Flat(first.extent),
        "gather",
        [&](Index index) { return PlaceOf(from, position(index), index); });
    return first;
  }

  ImportContext& in_;
  const TopKSpec spec_;
  const Shape shape_;
};

absl::Status ImportTopK(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const TopKSpec spec, ReadTopK(op));
  // Nobody reads what is empty.
  if (spec.count == 0) return absl::OkStatus();
  const int64_t extent = op.shape(0)[spec.axis];
  std::string name = op.has_output(1) ? in.Name(1) : in.Name(0, "place");
  const TensorId place = ChooseWay(spec, op.dtype(0), extent).picks
                             ? PickFirst(in, spec, std::move(name))
                             : TopKRows(in, spec).Run(std::move(name));
  if (op.has_output(1)) in.SetOutput(1, place);
  if (op.has_output(0)) {
    const TensorId x = in.input(0);
    in.EmitElementwise(0, "top_k", [&](Index index) {
      std::vector<Expr> at(index.begin(), index.end());
      at[spec.axis] = PositionFromData(in.Load(place, index), extent);
      return in.At(x, std::move(at));
    });
  }
  return absl::OkStatus();
}

// How many is an attribute before opset 10, then an input; the least ones from
// opset 11 on.
constexpr OpDef kOps[] = {
    {"TopK", 6, 1, 1, InferTopK, ImportTopK},
    {"TopK", 10, 2, 2, InferTopK, ImportTopK},
};

}  // namespace

absl::Span<const OpDef> SelectionOps() { return kOps; }

}  // namespace tilewright
