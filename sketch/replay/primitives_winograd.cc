// winograd: a convolution by Winograd.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/replay/winograd_form.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::sketch {

absl::StatusOr<Results> ApplyWinograd(Replayer& replayer,
                                      const Arguments& args) {
  TW_ASSIGN_OR_RETURN(const std::string name,
                      replayer.BlockName(args.operands[0]));
  if (!replayer.is_initial()) {
    return absl::InvalidArgumentError(
        "only 'block' may stand before it: it begins the tree anew");
  }
  const Workload& workload = replayer.workload();
  const std::optional<WinogradConvolution> convolution =
      FindWinograd(workload.graph);
  if (!convolution || !workload.stages.empty() ||
      workload.graph.tensor(convolution->output).name != name) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is no convolution that is marked for it, or no group's only"));
  }
  const std::vector<int> tiles = WinogradTiles(workload.graph, *convolution);
  const Factors& m = args.factors[0];
  if (m.size() != 1 ||
      std::find(tiles.begin(), tiles.end(), m[0]) == tiles.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tiles of that size are not allowed for ", name,
                     ", or its data has no room for them"));
  }
  TW_RETURN_IF_ERROR(replayer.Become(
      MakeWinogradForm(workload, *convolution, static_cast<int>(m[0]))));
  return Results{};
}

}  // namespace tilewright::sketch
