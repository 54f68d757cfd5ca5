// Det: elimination with the largest element of a column as its pivot. Each step
// leaves a matrix of one row and one column less; the determinant is the
// product of the pivots, whose sign each exchange of rows flips.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Each row costs three computes.
constexpr int64_t kMostRows = 32;

absl::Status InferDet(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  Shape shape = op.shape(0);
  const int64_t columns = shape.back();
  shape.pop_back();
  if (shape.back() != columns) {
    return op.Error("matrices of shape ", ShapeText(op.shape(0)),
                    " are not square");
  }
  if (columns < 1 || columns > kMostRows)
    return op.Unsupported("a matrix of ", columns, " rows");
  shape.pop_back();
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Square matrices, one for each index of the output.
class Elimination {
 public:
  explicit Elimination(ImportContext& in)
      : in_(in),
        acc_(Combiner::DefaultAccumulator(in.op().dtype(0))),
        batch_(in.op().output(0).shape),
        matrix_(in.input(0)),
        rows_(in.op().shape(0).back()) {}

  void Emit() {
    while (rows_ > 1) Step();
    in_.EmitElementwise(0, "determinant", [&](Index index) {
      return Times(index, At(index, Expr::Int(0), Expr::Int(0)));
    });
  }

 private:
  // An element of the matrix at `index`.
  Expr At(Index index, const Expr& row, const Expr& column) const {
    std::vector<Expr> at(index.begin(), index.begin() + batch_.size());
    at.push_back(row);
    at.push_back(column);
    return CastTo(acc_, in_.At(matrix_, std::move(at)));
  }
  // The product of the pivots so far with `factor`.
  Expr Times(Index index, const Expr& factor) const {
    return product_ < 0 ? factor : Mul(in_.Load(product_, index), factor);
  }

  // Takes the first column's pivot and its row out of the matrix.
  void Step() {
    const TensorId found = in_.ArgReduction(
        Name("row"), AxesOf(batch_), {{"row", rows_}}, Combiner::Kind::kArgMax,
        "pivot",
        [&](Index index, Index over) {
          return Unary(Op::kAbs, At(index, over[0], Expr::Int(0)));
        },
        [](Index, Index over) { return over[0]; });
    const auto pivot_row = [&](Index index) {
      return PositionFromData(
          in_.At(found, {index.begin(), index.begin() + batch_.size()}), rows_);
    };
    const auto pivot = [&](Index index) {
      return At(index, pivot_row(index), Expr::Int(0));
    };
    const TensorId product = in_.Elementwise(
        Name("product"), acc_, batch_, "pivot", [&](Index index) {
          const Expr stays = Binary(Op::kEq, pivot_row(index), Expr::Int(0));
          return Times(index, SelectExpr(stays, pivot(index),
                                         Unary(Op::kNeg, pivot(index))));
        });
    Shape shape = batch_;
    shape.insert(shape.end(), 2, rows_ - 1);
    matrix_ = in_.Elementwise(
        Name("rest"), acc_, shape, "eliminate", [&](Index index) {
          const Expr column = index.back() + Expr::Int(1);
          const Expr below = index[batch_.size()] + Expr::Int(1);
          const Expr pivoted = pivot_row(index);
          // The first row takes the pivot's place.
          const Expr row =
              SelectExpr(Binary(Op::kEq, below, pivoted), Expr::Int(0), below);
          // Without a pivot the column is zero already.
          const Expr zero = Literal(acc_, 0);
          const Expr share =
              SelectExpr(Binary(Op::kEq, pivot(index), zero), zero,
                         Div(At(index, row, Expr::Int(0)), pivot(index)));
          return Sub(At(index, row, column),
                     Mul(share, At(index, pivoted, column)));
        });
    product_ = product;
    --rows_;
  }

  std::string Name(const char* what) const {
    return in_.Name(0, absl::StrCat(what, rows_));
  }

  ImportContext& in_;
  const DType acc_;
  const Shape batch_;
  TensorId matrix_;        // what is left: [batch, rows_, rows_]
  TensorId product_ = -1;  // of the pivots: [batch]
  int64_t rows_;
};

absl::Status ImportDet(ImportContext& in) {
  Elimination(in).Emit();
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Det", 11, 1, 1, InferDet, ImportDet},
};

}  // namespace

absl::Span<const OpDef> DeterminantOps() { return kOps; }

}  // namespace tilewright
