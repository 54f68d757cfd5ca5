#include "sketch/fused/stage_paddings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

// The tensor that `id` is with a constant around it, or in other places.
std::optional<TensorId> SourceOfPadding(const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind != TensorKind::kCompute || tensor.compute.combiner)
    return std::nullopt;
  const Expr& body = tensor.compute.body[0];
  if (body.op() != Op::kSelect || body.operand(1).op() != Op::kLoad ||
      body.operand(2).op() != Op::kConst)
    return std::nullopt;
  const Expr& load = body.operand(1);
  if (graph.Inputs(id) != std::vector<TensorId>{load.source()} ||
      load.operands().size() != tensor.shape.size())
    return std::nullopt;
  return load.source();
}

// `layout` for a tensor of other extents: neighbours stay neighbours.
Layout LayoutOfShape(const Layout& layout, const std::vector<int64_t>& shape) {
  std::vector<Layout::Digit> digits = layout.digits();
  for (Layout::Digit& digit : digits) {
    const bool top =
        std::none_of(layout.digits().begin(), layout.digits().end(),
                     [&](const Layout::Digit& other) {
                       return other.dim == digit.dim && other.div > digit.div;
                     });
    if (top) digit.extent = (shape[digit.dim] + digit.div - 1) / digit.div;
  }
  const std::vector<int64_t> none(shape.size(), 0);
  absl::StatusOr<Layout> result =
      Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
  TW_CHECK(result.ok());
  return *std::move(result);
}

class Mover {
 public:
  Mover(const TensorGraph& graph, StagePlan plan)
      : graph_(graph), plan_(std::move(plan)), readers_(graph.size()) {
    for (const Tensor& tensor : graph.tensors()) {
      for (const TensorId input : graph.Inputs(tensor.id)) ++readers_[input];
    }
    for (const TensorId output : graph.outputs()) ++readers_[output];
  }

  StagePlan Run() {
    for (size_t s = 1; s < plan_.stages.size(); ++s) {
      const std::vector<TensorId> members = plan_.stages[s].members;
      for (const TensorId member : members) {
        const std::optional<TensorId> source = SourceOfPadding(graph_, member);
        const std::optional<size_t> producer =
            source ? StageOf(*source, s) : std::nullopt;
        if (!producer || member == plan_.stages.back().members.back()) continue;
        Move(member, s, *producer);
        if (plan_.stages[s].members.empty()) {
          plan_.stages.erase(plan_.stages.begin() +
                             static_cast<std::ptrdiff_t>(s));
          --s;
          break;
        }
        if (readers_[*source] > 1) ++s;  // one more stands before it
      }
    }
    return std::move(plan_);
  }

 private:
  // Which of the stages before `end` has `tensor` for its output.
  std::optional<size_t> StageOf(TensorId tensor, size_t end) const {
    for (size_t s = 0; s < end; ++s) {
      if (plan_.stages[s].members.back() == tensor) return s;
    }
    return std::nullopt;
  }

  void Move(TensorId padding, size_t from, size_t producer) {
    std::vector<TensorId>& members = plan_.stages[from].members;
    const Layout layout = LayoutOfShape(plan_.stages[producer].layout,
                                        graph_.tensor(padding).static_shape());
    const TensorId source = plan_.stages[producer].members.back();
    if (readers_[source] > 1 && members.size() == 1) return;
    members.erase(std::find(members.begin(), members.end(), padding));
    if (readers_[source] == 1) {
      plan_.stages[producer].members.push_back(padding);
      plan_.stages[producer].layout = layout;
    } else {
      plan_.stages.insert(
          plan_.stages.begin() + static_cast<std::ptrdiff_t>(from),
          {{padding}, layout});
    }
  }

  const TensorGraph& graph_;
  StagePlan plan_;
  std::vector<int> readers_;
};

}  // namespace

StagePlan MovePaddings(const TensorGraph& graph, StagePlan plan) {
  return Mover(graph, std::move(plan)).Run();
}

}  // namespace tilewright::sketch
