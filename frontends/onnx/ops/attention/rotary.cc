// RotaryEmbedding: pairs of features of a token turned by angles that its
// position gives.
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

struct RotarySpec {
  int64_t batch = 1, tokens = 1, heads = 1;
  int64_t size = 1;     // features of a head
  int64_t rotated = 1;  // the first of them, which are turned
  // [batch, tokens, heads * size] rather than [batch, heads, tokens, size].
  bool is_flat = false;
};

absl::StatusOr<RotarySpec> ReadRotary(const OpContext& op) {
  const Shape& x = op.shape(0);
  RotarySpec spec;
  if (x.size() != 3 && x.size() != 4) {
    return op.Error("the input has shape ", ShapeText(x),
                    " where three or four dimensions are needed");
  }
  spec.is_flat = x.size() == 3;
  spec.batch = x[0];
  spec.tokens = spec.is_flat ? x[1] : x[2];
  spec.heads = spec.is_flat ? op.Int("num_heads", 0) : x[1];
  if (spec.is_flat && (spec.heads < 1 || x[2] % spec.heads != 0)) {
    return op.Error("the ", x[2], " features of ", ShapeText(x),
                    " do not divide into ", spec.heads,
                    " heads; set attribute 'num_heads'");
  }
  spec.size = spec.is_flat ? x[2] / spec.heads : x[3];
  const int64_t rotated = op.Int("rotary_embedding_dim", 0);
  spec.rotated = rotated == 0 ? spec.size : rotated;
  if (spec.rotated % 2 != 0 || spec.rotated > spec.size) {
    return op.Error("the ", spec.rotated,
                    " features to rotate must be even and at most the ",
                    spec.size, " of a head; set 'rotary_embedding_dim'");
  }
  return spec;
}

absl::Status InferRotary(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const RotarySpec spec, ReadRotary(op));
  const bool gathers = op.has_input(3);
  if (gathers && op.shape(3) != Shape{spec.batch, spec.tokens}) {
    return op.Error("position_ids have shape ", ShapeText(op.shape(3)),
                    " where ", ShapeText({spec.batch, spec.tokens}),
                    " is needed");
  }
  for (int i = 1; i <= 2; ++i) {
    Shape wanted = {spec.batch, spec.tokens, spec.rotated / 2};
    if (gathers) wanted = {op.rank(i) > 0 ? op.shape(i)[0] : 1, wanted[2]};
    if (op.shape(i) == wanted && op.shape(i) == op.shape(1)) continue;
    return op.Error("the caches have shapes ", ShapeText(op.shape(1)), " and ",
                    ShapeText(op.shape(2)), " where ", ShapeText(wanted),
                    " is needed");
  }
  return InferSameFloat(op);
}

// `x` of four dimensions with its features turned; its tokens are dimension
// `token_dim`.
TensorId EmitRotated(ImportContext& in, std::string name, TensorId x,
                     const RotarySpec& spec, int token_dim) {
  const OpContext& op = in.op();
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId cos = in.input(1);
  const TensorId sin = in.input(2);
  const TensorId positions = op.has_input(3) ? in.input(3) : -1;
  const bool interleaved = op.Int("interleaved", 0) != 0;
  const Expr half = Expr::Int(spec.rotated / 2);
  return in.Elementwise(
      std::move(name), op.dtype(0), in.shape_of(x), "rotary", [&](Index index) {
        const Expr& token = index[token_dim];
        const Expr& feature = index[3];
        const auto x_at = [&](const Expr& at) {
          return CastTo(acc, in.At(x, {index[0], index[1], index[2], at}));
        };
        const auto angle = [&](TensorId cache, const Expr& pair) {
          if (positions < 0)
            return CastTo(acc, in.At(cache, {index[0], token, pair}));
          const Expr row = PositionFromData(in.At(positions, {index[0], token}),
                                            op.shape(1)[0]);
          return CastTo(acc, in.At(cache, {row, pair}));
        };
        // The first and the second of a pair.
        const auto first = [&](const Expr& pair, const Expr& a, const Expr& b) {
          return Binary(Op::kSub, Binary(Op::kMul, angle(cos, pair), x_at(a)),
                        Binary(Op::kMul, angle(sin, pair), x_at(b)));
        };
        const auto second = [&](const Expr& pair, const Expr& a,
                                const Expr& b) {
          return Binary(Op::kAdd, Binary(Op::kMul, angle(sin, pair), x_at(a)),
                        Binary(Op::kMul, angle(cos, pair), x_at(b)));
        };
        Expr turned;
        if (interleaved) {
          const Expr pair = FloorDiv(feature, Expr::Int(2));
          const Expr a = pair * Expr::Int(2);
          const Expr b = a + Expr::Int(1);
          turned = SelectExpr(Binary(Op::kEq, feature, a), first(pair, a, b),
                              second(pair, a, b));
        } else {
          const Expr before = feature - half;
          turned = SelectExpr(Binary(Op::kLt, feature, half),
                              first(feature, feature, feature + half),
                              second(before, before, feature));
        }
        if (spec.rotated == spec.size) return turned;
        return SelectExpr(Binary(Op::kLt, feature, Expr::Int(spec.rotated)),
                          turned, x_at(feature));
      });
}

absl::Status ImportRotary(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const RotarySpec spec, ReadRotary(in.op()));
  const TensorId x = in.input(0);
  if (!spec.is_flat) {
    in.SetOutput(0, EmitRotated(in, in.Name(), x, spec, 2));
    return absl::OkStatus();
  }
  const TensorId heads =
      EmitReshaped(in, in.Name(0, "heads"), x,
                   {spec.batch, spec.tokens, spec.heads, spec.size});
  const TensorId turned =
      EmitRotated(in, in.Name(0, "rotated"), heads, spec, 1);
  in.SetOutput(0, EmitReshaped(in, in.Name(), turned, in.op().shape(0)));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"RotaryEmbedding", 23, 3, 4, InferRotary, ImportRotary},
};

}  // namespace

absl::Span<const OpDef> RotaryOps() { return kOps; }

}  // namespace tilewright
