#include "tilegraph/cost/estimate_key.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tilegraph/plan/canonical_group.h"

namespace tilewright {

bool operator<(const EstimateKey& a, const EstimateKey& b) {
  return std::tie(a.kernel, a.levels, a.tiles) <
         std::tie(b.kernel, b.levels, b.tiles);
}

EstimateKey EstimateKeyOf(const TensorGraph& graph,
                          const TensorLevels& tensor_levels,
                          const Group& group) {
  const CanonicalGroup canonical =
      Canonicalize(graph, tensor_levels.plan(), group);
  EstimateKey key{
      KernelKeyOf(graph, tensor_levels.plan(), group, canonical), {}, ""};
  const std::vector<TensorId> outputs = OutputsOf(group);
  const int operands = canonical.arguments + canonical.constants;
  for (int i = 0; i < operands; ++i)
    key.levels.push_back(tensor_levels.Of(canonical.tensors[i], group));
  for (const TensorId output : outputs)
    key.levels.push_back(tensor_levels.Of(output, group));
  for (size_t i = 0; i < group.members.size(); ++i) {
    const TensorId member = group.members[i];
    const Layout* const layout = tensor_levels.LayoutOf(member);
    if (layout == nullptr ||
        std::find(outputs.begin(), outputs.end(), member) != outputs.end())
      continue;
    absl::StrAppend(&key.tiles, i, " ", layout->ToString(), "\n");
  }
  absl::StrAppend(&key.tiles, group.tile_plan.reduce_step(), " ",
                  absl::StrJoin(group.tile_plan.tile, "x"));
  return key;
}

}  // namespace tilewright
