#include "tilegraph/ir/intrinsics.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

constexpr DotIntrinsic kDots[] = {
    {"dot4_u8s8_i32", 4, DType::kUInt8, DType::kInt8, DType::kInt32},
    {"dot2_bf16_f32", 2, DType::kBFloat16, DType::kBFloat16, DType::kFloat32},
};

// The load under a cast to the accumulator; empty if it is anything else.
Expr CastLoad(const Expr& e, DType acc) {
  if (e.op() != Op::kCast || e.dtype() != acc || e.operand(0).op() != Op::kLoad)
    return Expr();
  return e.operand(0);
}

}  // namespace

absl::Span<const DotIntrinsic> DotIntrinsics() { return kDots; }

const DotIntrinsic* FindDotIntrinsic(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kDots), std::end(kDots),
                   [&](const DotIntrinsic& dot) { return dot.name == name; });
  return found == std::end(kDots) ? nullptr : found;
}

TensorGraph Semantics(const DotIntrinsic& intrinsic, int64_t lanes) {
  const int64_t group = intrinsic.group;
  TensorGraph graph;
  const TensorId c = graph.AddPlaceholder("C", intrinsic.acc, {lanes});
  const TensorId a = graph.AddPlaceholder("A", intrinsic.a, {group});
  const TensorId b = graph.AddPlaceholder("B", intrinsic.b, {lanes, group});
  const Expr n = Expr::Var(0, "n"), g = Expr::Var(1, "g");
  Compute terms;
  terms.axes = {{"n", lanes}};
  terms.reduce_axes = {{"g", group}};
  terms.combiner = Combiner(Combiner::Kind::kSum, intrinsic.acc);
  terms.body = {
      Expr::Make(Op::kMul, {Expr::Cast(intrinsic.acc, graph.Load(a, {g})),
                            Expr::Cast(intrinsic.acc, graph.Load(b, {n, g}))})};
  const TensorId sum = graph.AddCompute("sum", intrinsic.acc, std::move(terms));
  Compute add;
  add.axes = {{"n", lanes}};
  add.body = {Expr::Make(Op::kAdd, {graph.Load(c, {n}), graph.Load(sum, {n})})};
  graph.SetOutputs({graph.AddCompute("T", intrinsic.acc, std::move(add))});
  return graph;
}

std::optional<DotTerm> MatchDotTerm(const Combiner& combiner,
                                    const Expr& term) {
  if (combiner.kind() != Combiner::Kind::kSum || term.op() != Op::kMul)
    return std::nullopt;
  for (const DotIntrinsic& dot : kDots) {
    if (combiner.acc() != dot.acc) continue;
    Expr x = CastLoad(term.operand(0), dot.acc);
    Expr y = CastLoad(term.operand(1), dot.acc);
    if (!x || !y) continue;
    if (x.dtype() == dot.b && y.dtype() == dot.a && dot.a != dot.b)
      std::swap(x, y);
    if (x.dtype() == dot.a && y.dtype() == dot.b)
      return DotTerm{&dot, std::move(x), std::move(y)};
  }
  return std::nullopt;
}

}  // namespace tilewright
