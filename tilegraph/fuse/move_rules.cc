#include "tilegraph/fuse/move_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/ir/layout_view.h"
#include "tilegraph/rewrite/bands/bands.h"

namespace tilewright {
namespace {

// Members of a group that a move makes.
constexpr size_t kMostMembers = 48;

double Bytes(const Tensor& tensor) {
  return static_cast<double>(tensor.num_bytes());
}

bool StaysAlone(const Tensor& output) {
  return IsBandMove(output) || output.hint.role() == ComputeRole::kPlainCopy;
}

class MoveFinder {
 public:
  MoveFinder(const TensorGraph& graph, const Plan& plan)
      : graph_(graph),
        plan_(plan),
        consumers_(graph.Consumers()),
        fixed_(graph.outputs().begin(), graph.outputs().end()) {
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      for (const TensorId member : plan.groups[g].members)
        group_of_[member] = static_cast<int>(g);
    }
    for (const auto& [view, source] : plan.views) {
      fixed_.insert(view);
      fixed_.insert(source);
    }
  }

  void AddMovesFrom(int from, bool smaller, std::vector<LocalMove>& moves) {
    const Group& group = plan_.groups[from];
    if (StaysAlone(graph_.tensor(group.output))) return;
    const std::optional<int> reader = OnlyReader(group.output);
    const double before = Bytes(graph_.tensor(group.output));
    std::vector<TensorId> moved;
    for (size_t kept = group.members.size(); kept-- > 0;) {
      const TensorId first = group.members[kept];
      if (graph_.tensor(first).compute.combiner) return;
      moved.insert(moved.begin(), first);
      const double after =
          kept == 0 ? 0 : Bytes(graph_.tensor(group.members[kept - 1]));
      if ((smaller && after >= before) || !IsCut(group, kept)) continue;
      if (kept > 0 && !smaller) moves.push_back({from, moved, -1});
      if (reader && MayBegin(moved, plan_.groups[*reader]))
        moves.push_back({from, moved, *reader});
    }
  }

 private:
  // The group that alone reads `output`.
  std::optional<int> OnlyReader(TensorId output) const {
    std::optional<int> reader;
    if (fixed_.count(output)) return std::nullopt;
    for (const TensorId consumer : consumers_[output]) {
      const auto group = group_of_.find(consumer);
      if (group == group_of_.end() || (reader && *reader != group->second))
        return std::nullopt;
      reader = group->second;
    }
    return reader;
  }

  // Whether the members from `kept` on read only the last one before.
  bool IsCut(const Group& group, size_t kept) const {
    const auto begin = group.members.begin();
    for (size_t i = kept; i < group.members.size(); ++i) {
      for (const TensorId input : graph_.Inputs(group.members[i])) {
        const auto found = std::lower_bound(begin, group.members.end(), input);
        if (found != group.members.end() && *found == input &&
            found - begin + 1 < static_cast<int64_t>(kept))
          return false;
      }
    }
    return true;
  }

  bool MayBegin(const std::vector<TensorId>& moved, const Group& group) const {
    if (StaysAlone(graph_.tensor(group.output)) ||
        moved.size() + group.members.size() > kMostMembers)
      return false;
    std::vector<TensorId> members;
    std::merge(moved.begin(), moved.end(), group.members.begin(),
               group.members.end(), std::back_inserter(members));
    bool reduces = false;
    for (const TensorId id : group.members) {
      if (!graph_.tensor(id).compute.combiner) continue;
      if (!IsRowReduction(graph_, id)) return false;
      reduces = true;
    }
    if (!reduces) return IsEvaluatedOnce(moved.back(), group);
    return std::all_of(members.begin(), members.end(),
                       [&](TensorId id) {
                         return graph_.tensor(id).compute.combiner ||
                                ReadsPlainly(graph_, id);
                       }) &&
           FindRows(graph_, members).has_value();
  }

  // Whether maps of `group` that are written into one another evaluate no more
  // elements of `result`, written into them too, than there are.
  bool IsEvaluatedOnce(TensorId result, const Group& group) const {
    std::map<TensorId, double> evaluated = {
        {group.output,
         static_cast<double>(graph_.tensor(group.output).num_elements())}};
    for (size_t i = group.members.size(); i-- > 0;) {
      const TensorId member = group.members[i];
      for (const Expr& body : graph_.tensor(member).compute.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() == Op::kLoad) evaluated[e.source()] += evaluated[member];
        });
      }
    }
    return evaluated[result] <=
           static_cast<double>(graph_.tensor(result).num_elements());
  }

  const TensorGraph& graph_;
  const Plan& plan_;
  const std::vector<std::vector<TensorId>>& consumers_;
  std::set<TensorId> fixed_;  // outputs of the model, views, and their sources
  std::map<TensorId, int> group_of_;
};

Group GroupOf(const TensorGraph& graph, std::vector<TensorId> members,
              std::vector<std::string> why) {
  Group group;
  std::set<TensorId> inputs;
  for (const TensorId member : members) {
    for (const TensorId input : graph.Inputs(member)) inputs.insert(input);
  }
  for (const TensorId member : members) inputs.erase(member);
  group.inputs.assign(inputs.begin(), inputs.end());
  group.output = members.back();
  group.members = std::move(members);
  group.why = std::move(why);
  return group;
}

// A tensor that was inside until now lies like what was computed from it.
Layout LayoutLike(const Layout& planned, const Tensor& tensor) {
  const std::vector<int64_t> shape = tensor.static_shape();
  const std::optional<Layout> dense = DenseInOrder(planned);
  return dense && dense->shape() == shape ? *dense : Layout::RowMajor(shape);
}

}  // namespace

std::vector<LocalMove> FindLocalMoves(const TensorGraph& graph,
                                      const Plan& plan, bool smaller) {
  MoveFinder finder(graph, plan);
  std::vector<LocalMove> moves;
  for (size_t g = 0; g < plan.groups.size(); ++g)
    finder.AddMovesFrom(static_cast<int>(g), smaller, moves);
  return moves;
}

Plan WithLocalMoves(const TensorGraph& graph, const Plan& plan,
                    absl::Span<const LocalMove> moves) {
  std::map<int, const LocalMove*> from, to;
  for (const LocalMove& move : moves) {
    from[move.from] = &move;
    if (move.to >= 0) to[move.to] = &move;
  }
  Plan result = plan;
  result.groups.clear();
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    const auto leaving = from.find(static_cast<int>(g)),
               coming = to.find(static_cast<int>(g));
    if (leaving != from.end()) {
      const LocalMove& move = *leaving->second;
      std::vector<TensorId> kept(
          group.members.begin(),
          group.members.end() - static_cast<int64_t>(move.moved.size()));
      if (!kept.empty()) {
        result.layouts.insert_or_assign(
            kept.back(), LayoutLike(plan.layouts.at(group.output),
                                    graph.tensor(kept.back())));
        result.groups.push_back(
            GroupOf(graph, std::move(kept),
                    {absl::StrCat("what follows is computed apart, up to ",
                                  graph.tensor(group.output).name)}));
      }
      if (move.to < 0) {
        result.groups.push_back(GroupOf(graph, move.moved, group.why));
      } else {
        result.layouts.erase(group.output);
      }
    } else if (coming != to.end()) {
      std::vector<TensorId> members;
      std::merge(coming->second->moved.begin(), coming->second->moved.end(),
                 group.members.begin(), group.members.end(),
                 std::back_inserter(members));
      result.groups.push_back(GroupOf(graph, std::move(members), group.why));
    } else {
      result.groups.push_back(group);
    }
  }
  return result;
}

}  // namespace tilewright
