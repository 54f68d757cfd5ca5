// Attention: scores of queries and keys, masked, their softmax, and the values
// weighted by it.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/attention/attention_spec.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/softmax.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

absl::Status InferAttention(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const AttentionSpec spec, ReadAttention(op));
  const DType q = op.dtype(kQuery), v = op.dtype(kValue);
  op.SetOutput(0, q, spec.OutputShape());
  op.SetOutput(1, q, {spec.batch, spec.kv_heads, spec.keys, spec.size});
  op.SetOutput(2, v, {spec.batch, spec.kv_heads, spec.keys, spec.value_size});
  op.SetOutput(3, q, spec.ScoresShape());
  return absl::OkStatus();
}

// `x` of four dimensions with two of them exchanged.
TensorId EmitExchanged(ImportContext& in, std::string name, TensorId x, int a,
                       int b) {
  Shape shape = in.shape_of(x);
  std::swap(shape[a], shape[b]);
  return in.Elementwise(std::move(name), in.dtype_of(x), shape, "transpose",
                        [&](Index index) {
                          std::vector<Expr> at(index.begin(), index.end());
                          std::swap(at[a], at[b]);
                          return in.At(x, std::move(at));
                        });
}

// Input `i` as [batch, heads, tokens, size].
TensorId EmitHeads(ImportContext& in, int i, int64_t heads,
                   const std::string& name) {
  const TensorId x = in.input(i);
  const Shape shape = in.shape_of(x);
  if (shape.size() == 4) return x;
  const TensorId split =
      EmitReshaped(in, in.Name(0, name + "_heads"), x,
                   {shape[0], shape[1], heads, shape[2] / heads});
  return EmitExchanged(in, in.Name(0, name), split, 1, 2);
}

// `past` and, behind it along the tokens, `x`: output `i`.
TensorId EmitPresent(ImportContext& in, int i, TensorId past, TensorId x) {
  Shape shape = in.shape_of(past);
  const Expr begin = Expr::Int(shape[2]);
  shape[2] += in.shape_of(x)[2];
  return in.Elementwise(
      in.Name(i), in.dtype_of(x), shape, "concat", [&](Index index) {
        return SelectExpr(
            Binary(Op::kLt, index[2], begin),
            in.At(past, {index.begin(), index.end()}),
            in.At(x, {index[0], index[1], index[2] - begin, index[3]}));
      });
}

// Keys or values, input `i`, with those of the past: output `present`.
TensorId EmitKeysOrValues(ImportContext& in, const AttentionSpec& spec, int i,
                          int past, int present, const std::string& name) {
  TensorId all = EmitHeads(in, i, spec.kv_heads, name);
  if (in.op().has_input(past)) {
    all = EmitPresent(in, present, in.input(past), all);
  }
  if (in.op().has_output(present)) in.SetOutput(present, all);
  return all;
}

// What becomes of a product of a query and a key.
class Scores {
 public:
  Scores(ImportContext& in, const AttentionSpec& spec, TensorId product)
      : in_(in), spec_(spec), product_(product) {
    const OpContext& op = in.op();
    if (op.has_input(kMask)) mask_ = PaddedMask();
    if (op.has_input(kValidLengths)) lengths_ = in.input(kValidLengths);
  }

  Expr Scaled(Index index) const {
    return Binary(Op::kMul, in_.At(product_, {index.begin(), index.end()}),
                  Literal(spec_.acc, spec_.scale));
  }

  Expr Capped(Index index) const {
    const Expr scaled = Scaled(index);
    if (spec_.softcap == 0) return scaled;
    const Expr cap = Literal(spec_.acc, spec_.softcap);
    return Binary(Op::kMul, Unary(Op::kTanh, Binary(Op::kDiv, scaled, cap)),
                  cap);
  }

  // The cap comes before the mask: what is masked stays at -infinity. ONNX 1.20
  // capped the mask, too; later releases correct that for the same opsets.
  Expr Masked(Index index) const {
    Expr score = Capped(index);
    Expr allowed = Allowed(index);
    if (mask_ >= 0) {
      const Expr mask = in_.Load(mask_, index);
      if (mask.dtype() == DType::kBool) {
        allowed = AndAll(allowed, mask);
      } else {
        score = Binary(Op::kAdd, score, CastTo(spec_.acc, mask));
      }
    }
    return allowed ? SelectExpr(allowed, score, Lowest(spec_.acc)) : score;
  }

 private:
  // A mask may end early: the keys behind it are masked.
  TensorId PaddedMask() const {
    const TensorId mask = in_.input(kMask);
    const DType dtype = in_.dtype_of(mask);
    std::vector<int64_t> none(in_.shape_of(mask).size(), 0);
    std::vector<int64_t> behind = none;
    behind.back() = spec_.keys - in_.shape_of(mask).back();
    return PadDims(in_, in_.Name(0, "mask"), mask, none, behind, Lowest(dtype));
  }

  // Whether a query may see a key, by what lengths and causality say; empty: it
  // always may. Behind a past, and where lengths are given, the queries are the
  // last tokens.
  Expr Allowed(Index index) const {
    Expr allowed;
    Expr offset = Expr::Int(spec_.past);
    if (lengths_ >= 0) {
      const Expr length = CastTo(DType::kInt64, in_.At(lengths_, {index[0]}));
      allowed = Binary(Op::kLt, index[3], length);
      offset = length - Expr::Int(spec_.queries);
    }
    if (!spec_.is_causal) return allowed;
    return AndAll(allowed, Binary(Op::kLe, index[3], index[2] + offset));
  }

  ImportContext& in_;
  const AttentionSpec& spec_;
  TensorId product_;
  TensorId mask_ = -1;
  TensorId lengths_ = -1;
};

// The head of keys and values that a head of queries uses.
Expr SharedHead(const AttentionSpec& spec, const Expr& head) {
  if (spec.heads == spec.kv_heads) return head;
  return FloorDiv(head, Expr::Int(spec.heads / spec.kv_heads));
}

// Of queries and, with their tokens in the last dimension, keys.
TensorId EmitProduct(ImportContext& in, const AttentionSpec& spec, TensorId q,
                     TensorId k) {
  return in.Reduction(
      in.Name(0, "product"), spec.acc,
      {{"b", spec.batch},
       {"h", spec.heads},
       {"m", spec.queries},
       {"n", spec.keys}},
      {{"k", spec.size}}, Combiner::Kind::kSum, "matmul",
      [&](Index index, Index reduced) {
        const Expr left = in.At(q, {index[0], index[1], index[2], reduced[0]});
        const Expr right = in.At(
            k, {index[0], SharedHead(spec, index[1]), reduced[0], index[3]});
        return Binary(Op::kMul, CastTo(spec.acc, left),
                      CastTo(spec.acc, right));
      });
}

TensorId EmitWeighted(ImportContext& in, const AttentionSpec& spec,
                      std::string name, TensorId weights, TensorId v) {
  return in.Reduction(
      std::move(name), in.op().dtype(kQuery),
      {{"b", spec.batch},
       {"h", spec.heads},
       {"m", spec.queries},
       {"n", spec.value_size}},
      {{"k", spec.keys}}, Combiner::Kind::kSum, "matmul",
      [&](Index index, Index reduced) {
        const Expr left =
            in.At(weights, {index[0], index[1], index[2], reduced[0]});
        const Expr right = in.At(
            v, {index[0], SharedHead(spec, index[1]), reduced[0], index[3]});
        return Binary(Op::kMul, CastTo(spec.acc, left),
                      CastTo(spec.acc, right));
      });
}

// Output 3, if anybody reads it.
void EmitShown(ImportContext& in, const AttentionSpec& spec,
               const Scores& scores, TensorId weights) {
  if (!in.op().has_output(3)) return;
  if (spec.shown == AttentionScores::kWeights) {
    in.SetOutput(3, weights);
    return;
  }
  in.EmitElementwise(3, "scores", [&](Index index) {
    return spec.shown == AttentionScores::kScaled   ? scores.Scaled(index)
           : spec.shown == AttentionScores::kCapped ? scores.Capped(index)
                                                    : scores.Masked(index);
  });
}

absl::Status ImportAttention(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const AttentionSpec spec, ReadAttention(op));
  const TensorId q = EmitHeads(in, kQuery, spec.heads, "q");
  const TensorId k = EmitKeysOrValues(in, spec, kKey, kPastKey, 1, "k");
  const TensorId columns = EmitExchanged(in, in.Name(0, "columns"), k, 2, 3);
  const TensorId v = EmitKeysOrValues(in, spec, kValue, kPastValue, 2, "v");
  const Scores scores(in, spec, EmitProduct(in, spec, q, columns));
  const TensorId masked = in.Elementwise(
      in.Name(0, "scores"), spec.acc, spec.ScoresShape(), "scores",
      [&](Index index) { return scores.Masked(index); });
  const TensorId weights =
      EmitSoftmax(in, in.Name(0, "softmax"), op.dtype(kQuery), masked,
                  {false, false, false, true}, spec.acc);
  EmitShown(in, spec, scores, weights);
  if (!spec.is_flat) {
    in.SetOutput(0, EmitWeighted(in, spec, in.Name(), weights, v));
    return absl::OkStatus();
  }
  const TensorId heads =
      EmitWeighted(in, spec, in.Name(0, "weighted"), weights, v);
  const TensorId tokens = EmitExchanged(in, in.Name(0, "tokens"), heads, 1, 2);
  in.SetOutput(0, EmitReshaped(in, in.Name(), tokens, spec.OutputShape()));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Attention", 23, 3, 6, InferAttention, ImportAttention},
    {"Attention", 24, 3, 7, InferAttention, ImportAttention},
};

}  // namespace

absl::Span<const OpDef> AttentionOps() { return kOps; }

}  // namespace tilewright
