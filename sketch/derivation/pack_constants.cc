#include "sketch/derivation/pack_constants.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

// Blocks of the innermost tile's width outermost, then the other dimensions as
// they are; nullopt if no dimension is cut.
std::optional<Layout> Panels(const TensorGraph& graph, const Expr& load,
                             const TileSizes& sizes) {
  const std::vector<int64_t> shape = graph.tensor(load.source()).static_shape();
  std::vector<Layout::Digit> outer, whole, inner;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int dim = static_cast<int>(d);
    const Expr& index = load.operand(dim);
    const bool spatial =
        index.op() == Op::kVar &&
        index.var_id() < static_cast<int>(sizes.spatial.size());
    const int64_t width =
        spatial ? sizes.spatial[index.var_id()].back() : int64_t{1};
    if (width > 1 && width < shape[d]) {
      outer.push_back({dim, width, CeilDiv(shape[d], width)});
      inner.push_back({dim, 1, width});
    } else if (width > 1) {
      inner.push_back({dim, 1, shape[d]});
    } else {
      whole.push_back({dim, 1, shape[d]});
    }
  }
  if (inner.empty()) return std::nullopt;
  std::vector<Layout::Digit> digits = std::move(outer);
  digits.insert(digits.end(), whole.begin(), whole.end());
  digits.insert(digits.end(), inner.begin(), inner.end());
  const std::vector<int64_t> none(shape.size(), 0);
  absl::StatusOr<Layout> layout = Layout::Create(
      shape, none, none, std::move(digits), Layout::Fill::kUndefined);
  if (!layout.ok() || *layout == Layout::RowMajor(shape)) return std::nullopt;
  return *std::move(layout);
}

}  // namespace

absl::Status PackConstantsOf(Derivation& derivation, TensorId id,
                             const std::string& block, const TileSizes& sizes) {
  if (!derivation.style().pack) return absl::OkStatus();
  const TensorGraph& graph = derivation.state().workload().graph;
  const auto& consumers = graph.Consumers();
  for (const TensorId input : graph.Inputs(id)) {
    const Tensor& tensor = graph.tensor(input);
    if (tensor.kind != TensorKind::kConstant || consumers[input].size() != 1)
      continue;
    std::optional<Layout> panels;
    for (const Expr& body : graph.tensor(id).compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad && e.source() == input && !panels)
          panels = Panels(graph, e, sizes);
      });
    }
    if (!panels) continue;
    const bool pack =
        derivation.decider().DecideNumber(
            absl::StrCat(Derivation::NameOf(block), ".pack.",
                         Derivation::NameOf(tensor.name)),
            Space::OneOf({"plain", "panels"}), [] { return 1; }) == 1;
    if (pack) derivation.writer().SetLayout(tensor.name, panels->ToString());
  }
  return derivation.Replay();
}

}  // namespace tilewright::sketch
