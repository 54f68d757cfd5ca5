#include "tilegraph/tiling/align/gpu_kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "tilegraph/tiling/align/gpu_price.h"
#include "tilegraph/tiling/connect_search.h"
#include "tilegraph/tiling/group_signature.h"
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
    text += ComputeSignature(graph.tensor(id).compute, name);
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
    part.outputs = OutputsOf(group);
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

// Groups as nodes: a part is what becomes one kernel.
class Judge : public ConnectJudge {
 public:
  // `alone`: every group of the plan as a kernel of its own.
  Judge(const JoinRules& rules, Planner& planner,
        const GpuKernelsOptions& options, std::vector<GpuKernel> alone)
      : rules_(rules),
        planner_(planner),
        options_(options),
        alone_(std::move(alone)) {
    for (size_t g = 0; g < alone_.size(); ++g) {
      part_of_.push_back(static_cast<int>(g));
      parts_[static_cast<int>(g)] = alone_[g];
    }
  }

  void Begin(const ConnectEdge&) override { asked_.clear(); }

  std::optional<double> Saved(const ConnectMove& move, int /*level*/) override {
    const Question question = QuestionOf(move);
    if (question.parts.size() < 2) return std::nullopt;
    const auto [asked, added] = asked_.try_emplace(question);
    if (added) asked->second = Joined(question);
    if (!asked->second) return std::nullopt;
    return SecondsBefore(question) - SecondsAfter(question, *asked->second);
  }

  void Connect(const ConnectMove& move, int /*level*/) override {
    const Question question = QuestionOf(move);
    GpuKernel joined = *std::move(asked_.at(question));
    for (const int part : question.parts) parts_.erase(part);
    for (const int group : question.left_out) {
      part_of_[group] = group;
      parts_[group] = alone_[group];
    }
    const int first = joined.groups.front();
    for (const int group : joined.groups) part_of_[group] = first;
    parts_[first] = std::move(joined);
  }

  std::vector<GpuKernel> Kernels() && {
    std::vector<GpuKernel> kernels;
    for (auto& [first, kernel] : parts_) kernels.push_back(std::move(kernel));
    return kernels;
  }

 private:
  // Parts that become one, but for groups of them.
  struct Question {
    std::set<int> parts, left_out;
    friend bool operator<(const Question& a, const Question& b) {
      return std::tie(a.parts, a.left_out) < std::tie(b.parts, b.left_out);
    }
  };

  Question QuestionOf(const ConnectMove& move) const {
    Question question;
    for (const ConnectEdge& edge : move.connect) {
      question.parts.insert(part_of_[edge.producer]);
      question.parts.insert(part_of_[edge.consumer]);
    }
    for (const ConnectEdge& edge : move.detach)
      question.left_out.insert(edge.producer);
    return question;
  }
  double SecondsBefore(const Question& question) const {
    double seconds = 0;
    for (const int part : question.parts)
      seconds += parts_.at(part).tiles->cost.seconds;
    return seconds;
  }
  double SecondsAfter(const Question& question, const GpuKernel& joined) const {
    double seconds = joined.tiles->cost.seconds;
    for (const int group : question.left_out)
      seconds += alone_[group].tiles->cost.seconds;
    return seconds;
  }

  // None if they cannot be one kernel, or that saves too little.
  std::optional<GpuKernel> Joined(const Question& question) {
    GpuKernel joined;
    for (const int part : question.parts) {
      if (!parts_.at(part).tiles) return std::nullopt;
      for (const int group : parts_.at(part).groups) {
        if (question.left_out.count(group)) continue;
        joined.groups.push_back(group);
        joined.apart_seconds += alone_[group].apart_seconds;
      }
    }
    if (static_cast<int>(joined.groups.size()) > options_.most_groups)
      return std::nullopt;
    std::sort(joined.groups.begin(), joined.groups.end());
    const absl::StatusOr<Group> group = rules_.Joined(joined.groups);
    if (!group.ok()) return std::nullopt;
    absl::StatusOr<GpuTilePlan> tiles = planner_.TilesOf(*group, joined.known);
    if (!tiles.ok()) return std::nullopt;
    joined.tiles = *std::move(tiles);
    if (SecondsAfter(question, joined) >
        (1 - options_.least_gain) * SecondsBefore(question))
      return std::nullopt;
    return joined;
  }

  const JoinRules& rules_;
  Planner& planner_;
  const GpuKernelsOptions& options_;
  const std::vector<GpuKernel> alone_;
  std::vector<int> part_of_;        // by group: the first of its part
  std::map<int, GpuKernel> parts_;  // by first group
  std::map<Question, std::optional<GpuKernel>> asked_;  // about this edge
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
  std::vector<ConnectEdge> edges;
  for (size_t g = 0; options.join && g < plan.groups.size(); ++g) {
    for (const int reader : rules.Readers(static_cast<int>(g)))
      edges.push_back({static_cast<int>(g), reader});
  }
  ConnectSearchOptions how;
  how.search = options.search;
  how.most_nodes = options.most_groups;
  how.meetings = 2;  // a loss may be made good by the reader after it
  Judge judge(rules, planner, options, std::move(alone));
  SearchConnections(edges, {}, how, judge);
  std::vector<GpuKernel> kernels = std::move(judge).Kernels();
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
