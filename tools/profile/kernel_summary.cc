#include "tools/profile/kernel_summary.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "sketch/trace/workload.h"

namespace tilewright::tools {
namespace {

std::string Extents(const std::vector<Axis>& axes) {
  return absl::StrJoin(axes, "·", [](std::string* text, const Axis& axis) {
    absl::StrAppend(text, axis.extent.value());
  });
}

double Points(const std::vector<Axis>& axes) {
  double points = 1;
  for (const Axis& axis : axes)
    points *= static_cast<double>(axis.extent.value());
  return points;
}

// The bracket of "(1, 8) [d0, d1] pad(...)".
std::string Digits(const Layout& layout) {
  const std::string text = layout.ToString();
  const size_t begin = text.find('['), end = text.find(']');
  std::string digits = text.substr(begin, end + 1 - begin);
  for (size_t i = 0; i < layout.pad_before().size(); ++i) {
    if (layout.pad_before()[i] == 0 && layout.pad_after()[i] == 0) continue;
    digits += "+halo";
    break;
  }
  return digits;
}

// "tile.rows 14" of the line "tile.rows = 14"; empty of an instruction.
std::string Decision(absl::string_view line) {
  const size_t equals = line.find(" = ");
  if (line.empty() || line[0] == '%' || equals == absl::string_view::npos)
    return "";
  return absl::StrCat(line.substr(0, equals), " ", line.substr(equals + 3));
}

}  // namespace

std::string Operators(const KernelInfo& kernel) {
  const absl::StatusOr<sketch::Workload> workload =
      sketch::ParseWorkload(kernel.workload());
  if (!workload.ok()) return "";
  std::vector<std::string> names;
  for (const Tensor& tensor : workload->graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    const std::string name = !tensor.hint.word().empty() ? tensor.hint.word()
                             : tensor.compute.combiner   ? "reduce"
                                                         : "map";
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return absl::StrJoin(names, "+");
}

std::string ShapeAndSchedule(const KernelInfo& kernel) {
  const absl::StatusOr<sketch::Workload> workload =
      sketch::ParseWorkload(kernel.workload());
  if (!workload.ok()) return "";
  const TensorGraph& graph = workload->graph;
  std::string out;
  for (const TensorId id : graph.outputs()) {
    const Layout layout = workload->LayoutOf(id);
    absl::StrAppend(&out, out.empty() ? "[" : ", [",
                    absl::StrJoin(graph.tensor(id).static_shape(), ", "), "]",
                    layout.is_row_major() ? "" : " as ",
                    layout.is_row_major() ? "" : Digits(layout));
  }
  const std::vector<Axis>* longest = nullptr;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner)
      continue;
    if (longest == nullptr ||
        Points(tensor.compute.reduce_axes) > Points(*longest))
      longest = &tensor.compute.reduce_axes;
  }
  if (longest != nullptr)
    absl::StrAppend(&out, ", reduces ", Extents(*longest));
  std::vector<std::string> decisions;
  for (const absl::string_view line : absl::StrSplit(kernel.schedule(), '\n')) {
    std::string decision = Decision(line);
    if (!decision.empty()) decisions.push_back(std::move(decision));
  }
  if (!decisions.empty())
    absl::StrAppend(&out, "; ", absl::StrJoin(decisions, ", "));
  return out;
}

}  // namespace tilewright::tools
