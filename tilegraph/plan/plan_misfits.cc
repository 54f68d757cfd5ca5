#include "absl/strings/str_cat.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/plan/plan_draft.h"

namespace tilewright {
namespace {

// Reads per element from which on a copy in the order of the reads pays.
constexpr int64_t kReadsWorthACopy = 4;
// Neighbours in memory that fill a vector well enough.
constexpr int64_t kWideRun = 8;

// The dimension whose neighbours lie side by side; -1 if there is none.
int ContiguousDim(const Layout& layout) {
  int dim = -1;
  int64_t least = 0;
  for (size_t i = 0; i < layout.digits().size(); ++i) {
    const Layout::Digit& digit = layout.digits()[i];
    const int64_t stride = layout.stride(static_cast<int>(i));
    if (digit.extent == 1 || layout.shape()[digit.dim] == 1) continue;
    if (dim >= 0 && stride >= least) continue;
    dim = digit.dim;
    least = stride;
  }
  return dim;
}

// Why vectors along `lanes` (an axis of the compute) cannot load from this
// layout at `offset`; empty if they can.
std::string WhyScattered(const LinearForm& offset, int lanes) {
  for (const auto& [term, coefficient] : offset.terms) {
    if (!Mentions(term, lanes)) continue;
    if (term.op() == Op::kVar) {
      if (coefficient != 1)
        return absl::StrCat("its reader's vectors would step by ", coefficient);
    } else if (term.op() == Op::kFloorMod && coefficient == 1) {
      const Expr& modulus = term.operand(1);
      if (modulus.op() != Op::kConst || modulus.int_value() < kWideRun)
        return "its reader's vectors would be cut short";
    } else if (term.op() != Op::kFloorDiv) {
      return "its reader's vectors would be scattered";
    }
  }
  return "";
}

}  // namespace

void FindMisfits(PlanDraft& draft) {
  for (const Group& group : draft.plan.groups) {
    const Tensor& output = draft.graph.tensor(group.output);
    const int lanes = ContiguousDim(draft.plan.layouts.at(group.output));
    for (const TensorId member : group.members) {
      const Tensor& tensor = draft.graph.tensor(member);
      // Axes correspond where the shapes are the same.
      if (lanes < 0 || !tensor.compute.combiner || tensor.shape != output.shape)
        continue;
      const RangeOf ranges = AxisRanges(tensor.compute);
      for (const Expr& body : tensor.compute.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() != Op::kLoad) return;
          const auto found = draft.views.find(e.source());
          if (found == draft.views.end() || found->second.padding) return;
          const auto layout = draft.plan.layouts.find(e.source());
          const Tensor& view = draft.graph.tensor(e.source());
          if (layout == draft.plan.layouts.end() ||
              Points(tensor) < kReadsWorthACopy * view.num_elements())
            return;
          const std::string why = WhyScattered(
              ToLinear(layout->second.Offset(e.operands()), ranges), lanes);
          if (!why.empty()) draft.misfits.emplace(e.source(), why);
        });
      }
    }
  }
}

}  // namespace tilewright
