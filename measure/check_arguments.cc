#include "measure/check_arguments.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace tilewright::measure {

absl::Status CheckArguments(const TensorGraph& graph,
                            const std::map<TensorId, Layout>& layouts,
                            const Arguments& arguments) {
  if (arguments.tensors.size() != arguments.layouts.size())
    return absl::InvalidArgumentError("one layout per argument is needed");
  std::set<TensorId> given;
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const TensorId id = arguments.tensors[i];
    if (id < 0 || id >= graph.size())
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", i, " is no tensor of the workload"));
    const Tensor& tensor = graph.tensor(id);
    if (arguments.layouts[i].shape() != tensor.static_shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the layout of '", tensor.name,
                       "' has another shape than the tensor"));
    }
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
