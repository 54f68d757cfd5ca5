// CumSum: for each element the sum of those up to it along an axis.
//
// The language has no scans. A short axis is one masked sum for each element.
// A longer one is cut into blocks: the sums within each block, the sums of
// whole blocks, themselves summed up, and one addition that joins them. So an
// element costs about kBlock additions whatever the length.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

// Longer blocks add more, shorter ones pass over memory more often.
constexpr int64_t kBlock = 4;
// Up to here one masked sum is no slower than blocks.
constexpr int64_t kLongestUncut = 2 * kBlock;

// Which elements of the axis the sum at a place takes.
struct Reach {
  bool reverse = false;    // those behind it, not those before it
  bool exclusive = false;  // without its own

  Expr Takes(const Expr& there, const Expr& here) const {
    const Op op = reverse     ? exclusive ? Op::kGt : Op::kGe
                  : exclusive ? Op::kLt
                              : Op::kLe;
    return Binary(op, there, here);
  }
};

class Scan {
 public:
  Scan(ImportContext& in, int axis) : in_(in), axis_(axis) {}

  // `name`: the sums of `x` along the axis.
  TensorId Sums(const std::string& name, DType dtype, TensorId x,
                const Reach& reach) const {
    const Shape shape = in_.shape_of(x);
    if (shape[axis_] <= kLongestUncut) {
      return Masked(name, dtype, x, {shape[axis_]}, shape[axis_],
                    [&](absl::Span<const Expr> here, const Expr& k) {
                      return reach.Takes(k, here[0]);
                    });
    }
    const DType acc = Combiner::DefaultAccumulator(in_.dtype_of(x));
    const int64_t blocks = CeilDiv(shape[axis_], kBlock);
    const TensorId within =
        Masked(absl::StrCat(name, ".within"), acc, x, {blocks, kBlock}, kBlock,
               [&](absl::Span<const Expr> here, const Expr& k) {
                 return reach.Takes(k, here[1]);
               });
    const TensorId whole =
        Masked(absl::StrCat(name, ".blocks"), acc, x, {blocks}, kBlock,
               [](absl::Span<const Expr>, const Expr&) { return Expr(); });
    const TensorId before = Sums(absl::StrCat(name, ".before"), acc, whole,
                                 {reach.reverse, /*exclusive=*/true});
    return in_.Elementwise(
        name, dtype, shape, "cumsum", [&](absl::Span<const Expr> index) {
          std::vector<Expr> at(index.begin(), index.end());
          at[axis_] = FloorDiv(index[axis_], Expr::Int(kBlock));
          const Expr base = in_.At(before, at);
          at.insert(at.begin() + axis_ + 1,
                    FloorMod(index[axis_], Expr::Int(kBlock)));
          return CastTo(dtype, Add(in_.At(within, std::move(at)), base));
        });
  }

 private:
  // `name`: the axis of `x` becomes dimensions of `extents`, the first over
  // blocks of `length` elements (one block has none); each sum takes those
  // elements k of its block for which `taken` (empty: all).
  TensorId Masked(std::string name, DType dtype, TensorId x,
                  absl::Span<const int64_t> extents, int64_t length,
                  const std::function<Expr(absl::Span<const Expr> here,
                                           const Expr& k)>& taken) const {
    const Shape& shape = in_.shape_of(x);
    const DType acc = Combiner::DefaultAccumulator(in_.dtype_of(x));
    Shape result(shape.begin(), shape.begin() + axis_);
    result.insert(result.end(), extents.begin(), extents.end());
    result.insert(result.end(), shape.begin() + axis_ + 1, shape.end());
    const bool cut = length < shape[axis_];
    const bool ragged = cut && shape[axis_] % length != 0;
    return in_.Reduction(
        std::move(name), dtype, AxesOf(result), {{"k", length}},
        Combiner::Kind::kSum, "cumsum",
        [&](absl::Span<const Expr> index, absl::Span<const Expr> k) {
          const auto here = index.subspan(axis_, extents.size());
          const auto behind = index.subspan(axis_ + extents.size());
          const Expr position = cut ? here[0] * Expr::Int(length) + k[0] : k[0];
          std::vector<Expr> at(index.begin(), index.begin() + axis_);
          at.push_back(position);
          at.insert(at.end(), behind.begin(), behind.end());
          const Expr term = CastTo(acc, in_.At(x, std::move(at)));
          const Expr condition =
              AndAll(taken(here, k[0]),
                     InBounds(position, shape[axis_], /*below=*/false, ragged));
          return condition ? SelectExpr(condition, term, Literal(acc, 0))
                           : term;
        });
  }

  ImportContext& in_;
  int axis_;
};

absl::StatusOr<int> CumSumAxis(const OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, op.ConstInts(1));
  if (axes.size() != 1) {
    return op.Error("there are ", axes.size(), " axes where one is needed");
  }
  return op.Axis(axes[0], op.rank(0));
}

absl::Status InferCumSum(OpContext& op) {
  TW_RETURN_IF_ERROR(CumSumAxis(op).status());
  return InferSameNumeric(op);
}

absl::Status ImportCumSum(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, CumSumAxis(op));
  const Reach reach = {op.Int("reverse", 0) != 0, op.Int("exclusive", 0) != 0};
  in.SetOutput(0,
               Scan(in, axis).Sums(in.Name(), op.dtype(0), in.input(0), reach));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"CumSum", 11, 2, 2, InferCumSum, ImportCumSum},
};

}  // namespace

absl::Span<const OpDef> CumSumOps() { return kOps; }

}  // namespace tilewright
