#include "tilegraph/plan/canonical_group.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/plan/workload_text.h"

namespace tilewright {
namespace {

// Alignment of buffers, and so of the parts of them that kernels get.
constexpr int64_t kAlignmentBytes = 64;

// Where a part of a larger buffer begins for the kernel.
int64_t FirstElement(const Layout& layout, DType dtype) {
  const int64_t unit = kAlignmentBytes / SizeBytes(dtype);
  return layout.base() / unit * unit;
}

}  // namespace

std::string CanonicalGroup::Name(int place) const {
  if (place < arguments) return absl::StrCat("i", place);
  place -= arguments;
  if (place < constants) return absl::StrCat("c", place);
  return absl::StrCat("t", place - constants);
}

CanonicalGroup Canonicalize(const TensorGraph& graph, const Plan& plan,
                            const Group& group) {
  CanonicalGroup canonical;
  std::set<TensorId> seen(group.members.begin(), group.members.end());
  std::vector<TensorId> constants;
  for (const TensorId member : group.members) {
    for (const TensorId input : graph.Inputs(member)) {
      if (!seen.insert(input).second) continue;
      const bool constant = graph.tensor(input).kind == TensorKind::kConstant;
      (constant ? constants : canonical.tensors).push_back(input);
    }
  }
  canonical.arguments = static_cast<int>(canonical.tensors.size());
  canonical.constants = static_cast<int>(constants.size());
  std::vector<TensorId> boundary = canonical.tensors;
  for (const TensorId output : OutputsOf(group)) boundary.push_back(output);
  for (const TensorId id : boundary) {
    const Layout& whole = plan.layouts.at(id);
    if (whole.is_dense()) {
      if (!whole.is_row_major()) canonical.layouts.emplace(id, whole);
      continue;
    }
    const DType dtype = graph.tensor(id).dtype;
    const int64_t first = FirstElement(whole, dtype);
    canonical.offset_bytes[id] = first * SizeBytes(dtype);
    Layout part = whole.From(first);
    if (!part.is_row_major()) canonical.layouts.emplace(id, std::move(part));
  }
  canonical.tensors.insert(canonical.tensors.end(), constants.begin(),
                           constants.end());
  canonical.tensors.insert(canonical.tensors.end(), group.members.begin(),
                           group.members.end());
  return canonical;
}

KernelKey KernelKeyOf(const TensorGraph& graph, const Plan& plan,
                      const Group& group, const CanonicalGroup& canonical) {
  std::unordered_map<TensorId, std::string> names;  // Looked up only.
  for (size_t i = 0; i < canonical.tensors.size(); ++i)
    names.emplace(canonical.tensors[i], canonical.Name(static_cast<int>(i)));
  WorkloadText text(graph, [&](TensorId id) { return names.at(id); });
  const auto arguments = canonical.tensors.begin();
  const auto constants = arguments + canonical.arguments;
  const auto members = constants + canonical.constants;
  for (auto id = arguments; id != members; ++id) text.AddLeaf(*id);
  for (auto id = members; id != canonical.tensors.end(); ++id)
    text.AddCompute(*id);
  const std::vector<TensorId> outputs = OutputsOf(group);
  text.AddOutputs(outputs);
  for (auto id = constants; id != members; ++id) text.AddConstant(*id);
  for (const TensorId id : canonical.tensors) {
    const auto layout = canonical.layouts.find(id);
    if (layout != canonical.layouts.end()) text.AddLayout(id, layout->second);
  }
  for (auto id = arguments; id != constants; ++id) {
    const auto zeros = plan.zeros.find(*id);
    if (zeros != plan.zeros.end()) text.AddZeros(*id, zeros->second);
  }
  for (const Stage& stage : group.stages) text.AddStage(stage.members);
  return KernelKey(std::move(text).Text());
}

KernelKey KernelKeyOf(const TensorGraph& graph, const Plan& plan,
                      const Group& group) {
  return KernelKeyOf(graph, plan, group, Canonicalize(graph, plan, group));
}

}  // namespace tilewright
