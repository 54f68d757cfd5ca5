#include "tilegraph/tiling/align/gpu_kernels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "tilegraph/expr.h"
#include "tilegraph/tiling/align/gpu_price.h"
#include "tilegraph/tiling/joined_groups.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {
namespace {

// Equal for parts that differ in names alone. Tensors are told apart by their
// order in the part.
std::string Signature(const TensorGraph& graph, const Subgraph& part) {
  std::string text;
  const auto name = [&](TensorId id) {
    const auto place = [&](const std::vector<TensorId>& list) {
      return std::lower_bound(list.begin(), list.end(), id) - list.begin();
    };
    if (std::binary_search(part.members.begin(), part.members.end(), id))
      return absl::StrCat("m", place(part.members));
    return absl::StrCat("i", place(part.inputs));
  };
  const auto add = [&](TensorId id) {
    const Tensor& tensor = graph.tensor(id);
    absl::StrAppend(&text, name(id), ":", ToAbsl(Name(tensor.dtype)), "[",
                    absl::StrJoin(tensor.static_shape(), ","), "]");
  };
  for (const TensorId id : part.inputs) add(id);
  for (const TensorId id : part.members) {
    add(id);
    const Compute& compute = graph.tensor(id).compute;
    if (compute.combiner) text += compute.combiner->ToString();
    for (const Axis& axis : compute.reduce_axes)
      absl::StrAppend(&text, "/", axis.extent.value());
    for (const Expr& body : compute.body) {
      text += PrintExpr(body, name, [](const Expr& var) {
        return absl::StrCat("v", var.var_id());
      });
    }
    text += ";";
  }
  for (const TensorId id : part.outputs) text += name(id);
  return text;
}

class Planner {
 public:
  Planner(const TensorGraph& graph, const DeviceSpec& spec,
          const GpuKernelsOptions& options)
      : graph_(graph), spec_(spec), options_(options) {}

  // The best tiles of `group`. An error says why there are none.
  absl::StatusOr<GpuTilePlan> TilesOf(const Group& group, bool& known) {
    Subgraph part = TileGraph(graph_, group.members).SubgraphOf(group.members);
    part.outputs = {group.output};
    auto [found, added] = known_.try_emplace(Signature(graph_, part));
    known = !added;
    if (added) {
      const TileGraph tiles(graph_, group.members);
      auto plans = TileForGpu(tiles, part, spec_, options_.tiling);
      if (plans.ok()) {
        found->second = std::move((*plans)[0]);
      } else {
        found->second = plans.status();
      }
    }
    if (!found->second.ok()) return found->second.status();
    GpuTilePlan plan = *found->second;
    Rename(part, plan);
    return plan;
  }

 private:
  // Of an equal part: the same with this one's tensors.
  static void Rename(const Subgraph& part, GpuTilePlan& plan) {
    std::map<TensorId, TensorId> name;
    for (size_t i = 0; i < part.inputs.size(); ++i)
      name[plan.part.inputs[i]] = part.inputs[i];
    for (size_t i = 0; i < part.members.size(); ++i)
      name[plan.part.members[i]] = part.members[i];
    for (GpuMember& member : plan.members.members) {
      member.id = name.at(member.id);
      for (GpuLoad& load : member.loads) load.tensor = name.at(load.tensor);
    }
    for (GpuInput& input : plan.members.inputs) input.id = name.at(input.id);
    for (SharedOperand& operand : plan.shared)
      operand.tensor = name.at(operand.tensor);
    plan.part = part;
  }

  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const GpuKernelsOptions& options_;
  std::map<std::string, absl::StatusOr<GpuTilePlan>> known_;
};

}  // namespace

absl::StatusOr<std::vector<GpuKernel>> PlanGpuKernels(
    const TensorGraph& graph, const Plan& plan, const DeviceSpec& spec,
    const GpuKernelsOptions& options) {
  if (!IsGpu(spec))
    return absl::InvalidArgumentError(
        absl::StrCat("spec '", spec.name(), "' is of no GPU"));
  Planner planner(graph, spec, options);
  const JoinRules rules(graph, plan);
  std::vector<GpuKernel> alone;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    GpuKernel kernel;
    kernel.groups = {static_cast<int>(g)};
    auto tiles = planner.TilesOf(plan.groups[g], kernel.known);
    if (tiles.ok()) {
      kernel.apart_seconds = tiles->cost.seconds;
      kernel.tiles = *std::move(tiles);
    } else {
      kernel.why_not = std::string(tiles.status().message());
    }
    alone.push_back(std::move(kernel));
  }
  std::vector<GpuKernel> kernels;
  std::vector<bool> taken(alone.size(), false);
  for (size_t g = 0; g < alone.size(); ++g) {
    if (taken[g]) continue;
    taken[g] = true;
    GpuKernel kernel = alone[g];
    // Along the only reader, as far as that pays; a loss may be made good by
    // the reader after it.
    std::vector<int> chain = kernel.groups;
    double apart = kernel.apart_seconds;
    while (options.join && kernel.tiles &&
           static_cast<int>(chain.size()) < options.most_groups) {
      const int last = chain.back();
      const std::vector<int>& readers = rules.Readers(last);
      if (readers.size() != 1 || rules.InMemory(last) ||
          !rules.WhyAlone(last).empty() || taken[readers[0]] ||
          !alone[readers[0]].tiles)
        break;
      chain.push_back(readers[0]);
      apart += alone[readers[0]].apart_seconds;
      const absl::StatusOr<Group> joined = rules.Joined(chain);
      if (!joined.ok()) break;
      bool known;
      absl::StatusOr<GpuTilePlan> tiles = planner.TilesOf(*joined, known);
      if (!tiles.ok()) break;
      const double here =
          kernel.tiles->cost.seconds + (apart - kernel.apart_seconds);
      if (tiles->cost.seconds > (1 - options.least_gain) * here) {
        if (chain.size() > kernel.groups.size() + 1) break;
        continue;
      }
      kernel.groups = chain;
      kernel.tiles = *std::move(tiles);
      kernel.apart_seconds = apart;
      kernel.known = known;
    }
    for (const int group : kernel.groups) taken[group] = true;
    kernels.push_back(std::move(kernel));
  }
  // A kernel runs where its last group did.
  std::sort(kernels.begin(), kernels.end(),
            [](const GpuKernel& a, const GpuKernel& b) {
              return a.groups.back() < b.groups.back();
            });
  return kernels;
}

std::string ToString(const TensorGraph& graph, const Plan& plan,
                     const std::vector<GpuKernel>& kernels) {
  std::string out;
  double seconds = 0, apart = 0, bytes = 0;
  int joined = 0;
  for (const GpuKernel& kernel : kernels) {
    const Group& last = plan.groups[kernel.groups.back()];
    absl::StrAppend(&out, "group ", absl::StrJoin(kernel.groups, "+"), " -> ",
                    graph.tensor(last.output).name);
    if (!kernel.tiles) {
      absl::StrAppend(&out, ": no plan: ", kernel.why_not, "\n");
      continue;
    }
    if (kernel.groups.size() > 1) {
      ++joined;
      absl::StrAppendFormat(&out, ", %.1f us apart",
                            kernel.apart_seconds * 1e6);
    }
    out += "\n" + ToString(graph, *kernel.tiles);
    seconds += kernel.tiles->cost.seconds;
    apart += kernel.apart_seconds;
    bytes += kernel.tiles->cost.dram_bytes;
  }
  absl::StrAppendFormat(&out,
                        "%d kernels, %d of them joined: %.1f us, %.2f MB of "
                        "memory; apart %.1f us\n",
                        static_cast<int>(kernels.size()), joined, seconds * 1e6,
                        bytes * 1e-6, apart * 1e6);
  return out;
}

}  // namespace tilewright
