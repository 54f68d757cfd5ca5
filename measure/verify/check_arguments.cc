#include "measure/verify/check_arguments.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::measure {
namespace {

bool MayBeWinogradFilters(const TensorGraph& graph, TensorId weights, int m) {
  const std::optional<WinogradConvolution> convolution = FindWinograd(graph);
  if (!convolution || convolution->weights != weights) return false;
  const std::vector<int> tiles = WinogradTiles(graph, *convolution);
  return std::count(tiles.begin(), tiles.end(), m) > 0;
}

}  // namespace

absl::Status CheckArgument(const TensorGraph& graph, TensorId id,
                           const Layout& layout, int winograd) {
  if (id < 0 || id >= graph.size())
    return absl::InvalidArgumentError(
        absl::StrCat("the workload has no tensor ", id));
  const Tensor& tensor = graph.tensor(id);
  std::vector<int64_t> shape = tensor.static_shape();
  if (winograd != 0) {
    if (!MayBeWinogradFilters(graph, id, winograd)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", tensor.name, "' has no filters of F(", winograd,
                       ", 3): no convolution that allows them multiplies by "
                       "it"));
    }
    shape = WinogradFilterShape(shape, winograd);
  }
  if (layout.shape() != shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the layout of '", tensor.name, "' has another shape than the tensor"));
  }
  return absl::OkStatus();
}

absl::Status CheckArguments(const TensorGraph& graph,
                            const std::map<TensorId, Layout>& layouts,
                            const Arguments& arguments) {
  if (arguments.tensors.size() != arguments.layouts.size())
    return absl::InvalidArgumentError("one layout per argument is needed");
  if (!arguments.winograd.empty() &&
      arguments.winograd.size() != arguments.tensors.size()) {
    return absl::InvalidArgumentError(
        "one size of Winograd's tiles per argument is needed");
  }
  std::set<TensorId> given;
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const TensorId id = arguments.tensors[i];
    TW_RETURN_IF_ERROR(CheckArgument(graph, id, arguments.layouts[i],
                                     arguments.WinogradOf(i)));
    const Tensor& tensor = graph.tensor(id);
    if (graph.tensor(id).kind == TensorKind::kCompute &&
        std::count(graph.outputs().begin(), graph.outputs().end(), id) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument '", tensor.name,
                       "' is neither input nor output of the workload"));
    }
    // The layouts at the boundary are the workload's; those of constants are
    // the schedule's.
    if (tensor.kind != TensorKind::kConstant) {
      const auto fixed = layouts.find(id);
      const Layout wanted = fixed == layouts.end()
                                ? Layout::RowMajor(tensor.static_shape())
                                : fixed->second;
      if (arguments.layouts[i] != wanted) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the layout of '", tensor.name, "' is not the workload's: ",
            arguments.layouts[i].ToString(), ", not ", wanted.ToString()));
      }
    }
    if (!given.insert(id).second)
      return absl::InvalidArgumentError(
          absl::StrCat("'", tensor.name, "' is given twice"));
  }
  for (const TensorId output : graph.outputs()) {
    if (graph.tensor(output).kind == TensorKind::kCompute &&
        given.count(output) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output '", graph.tensor(output).name, "' is no argument"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::measure
