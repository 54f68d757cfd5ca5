#include "tilegraph/tiling/group_signature.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/string_view.h"

namespace tilewright {

std::string ComputeSignature(const Compute& compute,
                             const std::function<std::string(int)>& source) {
  std::string text;
  for (const Axis& axis : compute.reduce_axes)
    absl::StrAppend(&text, " over ", axis.extent.value());
  if (compute.combiner)
    absl::StrAppend(&text, " ", compute.combiner->ToString(), " ",
                    compute.result);
  for (const Expr& body : compute.body) {
    absl::StrAppend(&text, " ", PrintExpr(body, source, [](const Expr& var) {
      return absl::StrCat("v", var.var_id());
    }));
  }
  return text;
}

std::string GroupSignature(const TensorGraph& graph, const TensorHomes& homes,
                           const Group& group) {
  std::map<TensorId, int> local;
  std::string text;
  const auto describe = [&](TensorId id) {
    const Tensor& tensor = graph.tensor(id);
    local.emplace(id, static_cast<int>(local.size()));
    absl::StrAppend(&text, "%", local.at(id), " ", ToAbsl(Name(tensor.dtype)),
                    "[", absl::StrJoin(tensor.static_shape(), ","), "] ",
                    static_cast<int>(tensor.kind), " ", homes.Of(id));
    if (const Layout* layout = homes.LayoutOf(id))
      absl::StrAppend(&text, " ", layout->ToString());
  };
  std::set<TensorId> members(group.members.begin(), group.members.end());
  for (const TensorId member : group.members) {
    for (const TensorId input : graph.Inputs(member)) {
      if (members.count(input) || local.count(input)) continue;
      describe(input);
      text += "\n";
    }
  }
  for (const TensorId member : group.members) {
    const Compute& compute = graph.tensor(member).compute;
    describe(member);
    text += ComputeSignature(compute, [&](int source) {
      return absl::StrCat("%", local.at(source));
    });
    text += "\n";
  }
  for (const Stage& stage : group.stages) {
    text += "stage";
    for (const TensorId member : stage.members)
      absl::StrAppend(&text, " %", local.at(member));
    if (stage.reduce_step > 0)
      absl::StrAppend(&text, " in steps of ", stage.reduce_step);
    text += "\n";
  }
  for (const TensorId output : group.side_outputs)
    absl::StrAppend(&text, "writes %", local.at(output), "\n");
  return text;
}

}  // namespace tilewright
