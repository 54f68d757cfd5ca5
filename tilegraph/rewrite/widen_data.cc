#include "tilegraph/rewrite/widen_data.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/rewrite/converted_tensors.h"

namespace tilewright {
namespace {

constexpr double kLeastUses = 16;
constexpr DType kWide = DType::kFloat32;

double StepsOf(const Compute& compute) {
  double steps = 1;
  for (const auto* axes : {&compute.axes, &compute.reduce_axes}) {
    for (const Axis& axis : *axes)
      steps *= static_cast<double>(axis.extent.value());
  }
  return steps;
}

class Widener {
 public:
  Widener(const TensorGraph& old, absl::Span<const DType> narrow)
      : old_(old), narrow_(narrow) {}

  RewrittenGraph Run() {
    for (const Tensor& tensor : old_.tensors()) {
      const bool sums = tensor.kind == TensorKind::kCompute &&
                        tensor.compute.combiner &&
                        tensor.compute.combiner->kind() == Combiner::Kind::kSum;
      ids_.push_back(sums ? Widened(tensor) : CopyTensor(tensor, ids_, new_));
    }
    return FinishRewrite(old_, std::move(new_), std::move(ids_));
  }

 private:
  bool IsReused(const Tensor& source, double steps, bool convolves) const {
    return (convolves || source.kind != TensorKind::kConstant) &&
           std::find(narrow_.begin(), narrow_.end(), source.dtype) !=
               narrow_.end() &&
           steps >= kLeastUses * static_cast<double>(source.num_elements());
  }

  // What the compute reuses and casts to f32 wherever it reads it.
  std::set<TensorId> ReusedBy(const Tensor& tensor) const {
    const double steps = StepsOf(tensor.compute);
    const auto convolution = AsConvolution(old_, tensor.id);
    const bool convolves = convolution && convolution->dense;
    std::map<TensorId, int> loads, casts;
    for (const Expr& body : tensor.compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad) ++loads[e.source()];
        if (IsCastLoad(e)) ++casts[e.operand(0).source()];
      });
    }
    std::set<TensorId> reused;
    for (const auto& [source, count] : casts) {
      if (count == loads[source] &&
          IsReused(old_.tensor(source), steps, convolves))
        reused.insert(source);
    }
    return reused;
  }

  static bool IsCastLoad(const Expr& e) {
    return e.op() == Op::kCast && e.dtype() == kWide &&
           e.operand(0).op() == Op::kLoad;
  }

  TensorId Widened(const Tensor& tensor) {
    const std::set<TensorId> reused = ReusedBy(tensor);
    if (reused.empty()) return CopyTensor(tensor, ids_, new_);
    Compute compute = tensor.compute;
    for (Expr& body : compute.body) {
      body = Rewrite(body, [&](const Expr& e) {
        // Its operand is wide already where it is.
        if (IsCastLoad(e) && e.operand(0).dtype() == kWide) return e.operand(0);
        if (e.op() != Op::kLoad) return Expr();
        const bool wide = reused.count(e.source()) > 0;
        return Expr::Load(
            wide ? wide_.Of(old_.tensor(e.source())) : ids_[e.source()],
            wide ? kWide : e.dtype(),
            {e.operands().begin(), e.operands().end()});
      });
    }
    return new_.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                           tensor.hint);
  }

  const TensorGraph& old_;
  const absl::Span<const DType> narrow_;
  TensorGraph new_;
  std::vector<TensorId> ids_;
  ConvertedTensors wide_{old_, kWide, ids_, new_};
};

}  // namespace

RewrittenGraph WidenReusedData(const TensorGraph& graph,
                               absl::Span<const DType> narrow) {
  return Widener(graph, narrow).Run();
}

}  // namespace tilewright
