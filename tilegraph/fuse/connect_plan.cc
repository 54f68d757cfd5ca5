#include "tilegraph/fuse/connect_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

// Groups of the register plan as nodes: a part is what becomes one kernel.
class GroupJudge : public ConnectJudge {
 public:
  GroupJudge(int groups, int most_groups, FusionEvaluator& evaluator)
      : most_groups_(most_groups), evaluator_(evaluator) {
    for (int g = 0; g < groups; ++g) {
      part_of_.push_back(g);
      parts_[g].part = evaluator_.Alone(g);
      result_.costs.push_back(parts_[g].part.cost);
    }
  }

  void Begin(const ConnectEdge&, absl::Span<const ConnectMove> moves) override {
    asked_.clear();
    std::vector<std::vector<int>> fused;
    for (const ConnectMove& move : moves) {
      const Question question = QuestionOf(move);
      std::vector<int> groups = GroupsOf(question);
      if (question.parts.size() > 1 &&
          static_cast<int>(groups.size()) <= most_groups_)
        fused.push_back(std::move(groups));
    }
    evaluator_.Prepare(fused);
  }

  std::optional<double> Saved(const ConnectMove& move, int /*level*/) override {
    const Question question = QuestionOf(move);
    if (question.parts.size() < 2) return std::nullopt;
    const auto known = asked_.find(question);
    if (known != asked_.end()) return known->second.saved;
    std::vector<PlanPart*> parts;
    for (const int part : question.parts)
      parts.push_back(&parts_.at(part).part);
    FusionDecision decision;
    if (static_cast<int>(GroupsOf(question).size()) > most_groups_) {
      for (const PlanPart* part : parts)
        decision.groups.insert(decision.groups.end(), part->groups.begin(),
                               part->groups.end());
      decision.left_out = question.left_out;
      decision.why = absl::StrCat("more than ", most_groups_, " groups");
    } else {
      decision = evaluator_.Evaluate(parts, LeftOutOf(question));
    }
    Asked asked;
    asked.decision = static_cast<int>(result_.decisions.size());
    if (decision.taken) asked.saved = decision.saved_core_seconds;
    decision.taken = false;  // not yet
    result_.decisions.push_back(std::move(decision));
    return asked_.emplace(question, asked).first->second.saved;
  }

  void Connect(const ConnectMove& move, int /*level*/) override {
    const Question question = QuestionOf(move);
    const int number = asked_.at(question).decision;
    for (const auto& [others, asked] : asked_) {
      FusionDecision& decision = result_.decisions[asked.decision];
      decision.taken = asked.decision == number;
      if (asked.saved)
        decision.why = absl::StrCat(
            decision.taken ? "fused " : "another fusion saves more: ",
            decision.why);
    }
    const FusionDecision& decision = result_.decisions[number];
    for (const int part : question.parts) parts_.erase(part);
    for (const int g : decision.left_out) {
      part_of_[g] = g;
      parts_[g].part = evaluator_.Alone(g);
    }
    const int first = decision.groups.front();
    for (const int g : decision.groups) part_of_[g] = first;
    parts_[first] = {
        {decision.groups, decision.fused, "", decision.fused_one_core_seconds},
        number};
  }

  ConnectedGroups Finish() && {
    for (const auto& [first, one] : parts_) {
      if (one.part.groups.size() < 2) continue;
      const FusionDecision& decision = result_.decisions[one.decision];
      result_.fusions.push_back(
          {one.part.groups, decision.fused.plan, decision.why});
    }
    return std::move(result_);
  }

 private:
  struct Decided {
    PlanPart part;
    int decision = -1;  // that made it of others
  };
  struct Asked {
    int decision = 0;
    std::optional<double> saved;
  };

  // Parts that become one, but for groups of them.
  struct Question {
    std::set<int> parts;
    std::vector<int> left_out;  // ascending
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
    for (const ConnectEdge& edge : move.detach) {
      if (question.left_out.empty() ||
          question.left_out.back() != edge.producer)
        question.left_out.push_back(edge.producer);
    }
    return question;
  }

  // What would be one group, ascending.
  std::vector<int> GroupsOf(const Question& question) const {
    std::vector<int> groups;
    for (const int part : question.parts) {
      for (const int g : parts_.at(part).part.groups) {
        if (!std::binary_search(question.left_out.begin(),
                                question.left_out.end(), g))
          groups.push_back(g);
      }
    }
    std::sort(groups.begin(), groups.end());
    return groups;
  }

  // Leaving groups out has to be better than the same fusion with all of them,
  // if there is such a one.
  LeftOut LeftOutOf(const Question& question) const {
    LeftOut left_out{question.left_out};
    if (question.left_out.empty()) return left_out;
    const auto whole = asked_.find({question.parts, {}});
    if (whole == asked_.end()) return left_out;
    const GroupCost& cost = result_.decisions[whole->second.decision].fused;
    if (!cost.plan.tile.empty() && cost.fits)
      left_out.most_core_seconds = cost.core_seconds;
    return left_out;
  }

  const int most_groups_;
  FusionEvaluator& evaluator_;
  std::vector<int> part_of_;         // by group: the first of its part
  std::map<int, Decided> parts_;     // by first group
  std::map<Question, Asked> asked_;  // about this edge
  ConnectedGroups result_;
};

// Equal ones once.
void KeepFirstOfEqual(std::vector<FusionDecision>& decisions) {
  std::map<std::vector<int>, size_t> kept;
  std::vector<FusionDecision> result;
  for (FusionDecision& decision : decisions) {
    const auto [found, added] =
        kept.try_emplace(decision.groups, result.size());
    if (added) {
      result.push_back(std::move(decision));
    } else if (decision.taken) {
      result[found->second] = std::move(decision);
    }
  }
  decisions = std::move(result);
}

}  // namespace

ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const GroupCostModel& model,
                            const ConnectPlanOptions& options) {
  FusionEvaluator evaluator(graph, plan, model, options.evaluate);
  const int groups = static_cast<int>(plan.groups.size());
  std::vector<ConnectEdge> edges;
  for (int g = 0; g < groups; ++g) {
    for (const int reader : evaluator.rules().Readers(g))
      edges.push_back({g, reader});
  }
  ConnectSearchOptions how;
  how.search = options.search;
  how.most_nodes = options.most_groups;
  how.meetings = 2;
  how.may_leave_first = options.may_leave_first;
  for (;;) {
    GroupJudge judge(groups, options.most_groups, evaluator);
    SearchConnections(edges, {}, how, judge);
    ConnectedGroups connected = std::move(judge).Finish();
    double all_core_seconds = 0;
    for (const GroupCost& cost : connected.costs)
      all_core_seconds += cost.core_seconds;
    if (evaluator.Measure(all_core_seconds)) continue;
    KeepFirstOfEqual(connected.decisions);
    connected.tiles = evaluator.tiles();
    return connected;
  }
}

Plan FusedPlan(const TensorGraph& graph, const Plan& plan,
               const ConnectedGroups& connected) {
  Plan annotated = plan;
  std::map<int, const Fusion*> fusion_of;
  for (const Fusion& fusion : connected.fusions) {
    for (const int g : fusion.groups) fusion_of[g] = &fusion;
  }
  for (const FusionDecision& decision : connected.decisions) {
    if (decision.taken) continue;
    // The last of the groups that could have stayed inside, or the kernel that
    // it is in: of that, what more it could have been.
    int place = decision.groups.front();
    const auto fusion = fusion_of.find(place);
    if (fusion != fusion_of.end()) {
      const std::vector<int>& inside = fusion->second->groups;
      if (std::includes(inside.begin(), inside.end(), decision.groups.begin(),
                        decision.groups.end()))
        continue;
      place = inside.back();
    }
    annotated.groups[place].why.push_back(absl::StrCat(
        "not fused with ",
        graph.tensor(plan.groups[decision.groups.back()].output).name, ": ",
        decision.why));
  }
  return FusionRules(graph, annotated).WithFusions(connected.fusions);
}

}  // namespace tilewright
