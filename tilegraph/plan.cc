#include "tilegraph/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tilegraph/access.h"

namespace tilewright {
namespace {

bool IsCompute(const TensorGraph& graph, TensorId id) {
  return graph.tensor(id).kind == TensorKind::kCompute;
}
bool IsMap(const TensorGraph& graph, TensorId id) {
  return IsCompute(graph, id) && !graph.tensor(id).compute.combiner;
}

struct Halo {
  std::vector<int64_t> before, after;
};

class Planner {
 public:
  Planner(const TensorGraph& graph, const PlanOptions& options)
      : graph_(graph),
        options_(options),
        consumers_(graph.Consumers()),
        is_output_(graph.size(), false) {
    for (const TensorId id : graph.outputs()) is_output_[id] = true;
  }

  Plan Run() {
    ChooseViews();
    FormGroups();
    OrderGroups();
    ChooseLayouts();
    return std::move(plan_);
  }

 private:
  // Reshapes become views; so do zero paddings of another group's result, which
  // then keeps a halo.
  void ChooseViews() {
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind != TensorKind::kCompute || is_output_[tensor.id])
        continue;
      if (const std::optional<TensorId> source = AsReshape(graph_, tensor.id)) {
        plan_.views[tensor.id] = *source;
        // Row-major order is what the view means, all the way to where the
        // memory comes from.
        for (std::optional<TensorId> at = *source; at; at = ViewSource(*at))
          must_be_plain_.insert(*at);
      }
    }
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind != TensorKind::kCompute || is_output_[tensor.id] ||
          plan_.views.count(tensor.id) || must_be_plain_.count(tensor.id)) {
        continue;
      }
      const std::optional<ZeroPadding> padding =
          AsZeroPadding(graph_, tensor.id);
      if (!padding || !CanHoldHalo(padding->source)) continue;
      plan_.views[tensor.id] = padding->source;
      paddings_[tensor.id] = *padding;
      auto [it, added] =
          halos_.insert({padding->source, {padding->before, padding->after}});
      if (added) continue;
      for (size_t i = 0; i < padding->before.size(); ++i) {
        it->second.before[i] =
            std::max(it->second.before[i], padding->before[i]);
        it->second.after[i] = std::max(it->second.after[i], padding->after[i]);
      }
    }
  }

  std::optional<TensorId> ViewSource(TensorId id) const {
    const auto it = plan_.views.find(id);
    return it == plan_.views.end() ? std::nullopt
                                   : std::optional<TensorId>(it->second);
  }

  bool CanHoldHalo(TensorId source) const {
    return IsCompute(graph_, source) && !is_output_[source] &&
           !plan_.views.count(source) && !must_be_plain_.count(source);
  }

  // The consumer that continues the group ending in `last`, or -1 with the
  // reason.
  TensorId Next(TensorId last, std::string& why) const {
    if (options_.connect == PlanOptions::Connect::kNone)
      return why = "connections are switched off", -1;
    if (is_output_[last])
      return why = "its result is an output of the model", -1;
    if (consumers_[last].size() != 1)
      return why = absl::StrCat("its result has ", consumers_[last].size(),
                                " consumers"),
             -1;
    const TensorId next = consumers_[last][0];
    if (plan_.views.count(next))
      return why = "its consumer is a view of it", -1;
    if (!IsMap(graph_, next)) return why = "its consumer reduces", -1;
    if (!ReadsElementwise(graph_, next, last))
      return why = "its consumer reads other elements than its own", -1;
    if (group_of_.count(next))
      return why = "its consumer already ends another group", -1;
    return next;
  }

  void FormGroups() {
    // Reductions first: what follows them in registers should not start a group
    // of its own.
    for (const bool maps : {false, true}) {
      for (const Tensor& tensor : graph_.tensors()) {
        if (tensor.kind != TensorKind::kCompute ||
            plan_.views.count(tensor.id) || group_of_.count(tensor.id))
          continue;
        if (IsMap(graph_, tensor.id) != maps) continue;
        Group group;
        TensorId last = tensor.id;
        while (last >= 0) {
          group.members.push_back(last);
          group_of_[last] = static_cast<int>(plan_.groups.size());
          group.output = last;
          last = Next(last, group.why);
        }
        plan_.groups.push_back(std::move(group));
      }
    }
    for (Group& group : plan_.groups) {
      std::set<TensorId> inputs;
      for (const TensorId member : group.members) {
        for (const TensorId input : graph_.Inputs(member)) inputs.insert(input);
      }
      for (const TensorId member : group.members) inputs.erase(member);
      group.inputs.assign(inputs.begin(), inputs.end());
    }
  }

  TensorId Root(TensorId id) const {
    while (const std::optional<TensorId> source = ViewSource(id)) id = *source;
    return id;
  }

  // Kahn's algorithm, the group whose result comes first in the graph going
  // first.
  void OrderGroups() {
    const int count = static_cast<int>(plan_.groups.size());
    std::vector<std::set<int>> waits_for(count), followers(count);
    for (int g = 0; g < count; ++g) {
      for (const TensorId input : plan_.groups[g].inputs) {
        const auto producer = group_of_.find(Root(input));
        if (producer == group_of_.end() || producer->second == g) continue;
        waits_for[g].insert(producer->second);
        followers[producer->second].insert(g);
      }
    }
    std::set<std::pair<TensorId, int>> ready;
    for (int g = 0; g < count; ++g) {
      if (waits_for[g].empty()) ready.insert({plan_.groups[g].output, g});
    }
    std::vector<Group> ordered;
    while (!ready.empty()) {
      const int g = ready.begin()->second;
      ready.erase(ready.begin());
      for (const int follower : followers[g]) {
        waits_for[follower].erase(g);
        if (waits_for[follower].empty())
          ready.insert({plan_.groups[follower].output, follower});
      }
      ordered.push_back(std::move(plan_.groups[g]));
    }
    plan_.groups = std::move(ordered);
  }

  // Convolution outputs, and what follows them with the same channels, are
  // blocked by channel.
  bool WantsBlocks(const Group& group,
                   const std::set<TensorId>& blocked) const {
    const Tensor& output = graph_.tensor(group.output);
    if (options_.channel_block == 0 || is_output_[output.id] ||
        must_be_plain_.count(output.id) || output.shape.size() < 3)
      return false;
    if (output.shape[1].value() % options_.channel_block != 0) return false;
    if (graph_.tensor(group.members[0]).hint == "conv") return true;
    return std::any_of(
        group.inputs.begin(), group.inputs.end(), [&](TensorId input) {
          const TensorId root = Root(input);
          return blocked.count(root) &&
                 graph_.tensor(root).shape.size() == output.shape.size() &&
                 graph_.tensor(root).shape[1] == output.shape[1];
        });
  }

  void ChooseLayouts() {
    std::set<TensorId> blocked;
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind == TensorKind::kPlaceholder)
        plan_.layouts[tensor.id] = Layout::RowMajor(tensor.static_shape());
    }
    for (const Group& group : plan_.groups) {
      const std::vector<int64_t> shape =
          graph_.tensor(group.output).static_shape();
      Layout layout = Layout::RowMajor(shape);
      if (WantsBlocks(group, blocked)) {
        blocked.insert(group.output);
        layout = Layout::BlockedLast(shape, 1, options_.channel_block);
      }
      const auto halo = halos_.find(group.output);
      if (halo != halos_.end())
        layout = layout.WithHalo(halo->second.before, halo->second.after,
                                 Layout::Fill::kZero);
      plan_.layouts[group.output] = layout;
    }
    for (auto& [view, source] : plan_.views) {
      const Tensor& tensor = graph_.tensor(view);
      const auto padding = paddings_.find(view);
      plan_.layouts[view] = padding == paddings_.end()
                                ? Layout::RowMajor(tensor.static_shape())
                                : PaddedView(tensor, padding->second);
    }
    for (auto& [view, source] : plan_.views) source = Root(source);
  }

  // The padded tensor's own index map onto the memory of its source: what
  // remains of the halo is padding of the view.
  Layout PaddedView(const Tensor& view, const ZeroPadding& padding) const {
    const Layout& source = plan_.layouts.at(padding.source);
    std::vector<int64_t> before = source.pad_before(),
                         after = source.pad_after();
    for (size_t i = 0; i < before.size(); ++i) {
      before[i] -= padding.before[i];
      after[i] -= padding.after[i];
    }
    return *Layout::Create(view.static_shape(), before, after, source.digits(),
                           Layout::Fill::kZero);
  }

  const TensorGraph& graph_;
  const PlanOptions& options_;
  const std::vector<std::vector<TensorId>> consumers_;
  std::vector<bool> is_output_;
  std::set<TensorId> must_be_plain_;
  std::map<TensorId, ZeroPadding> paddings_;  // by view
  std::map<TensorId, Halo> halos_;            // by source
  std::map<TensorId, int> group_of_;          // before ordering
  Plan plan_;
};

}  // namespace

Plan MakePlan(const TensorGraph& graph, const PlanOptions& options) {
  return Planner(graph, options).Run();
}

std::string ToString(const Plan& plan, const TensorGraph& graph) {
  const auto name = [&](TensorId id) { return graph.tensor(id).name; };
  std::string out;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    const auto join = [&](const std::vector<TensorId>& ids) {
      return absl::StrJoin(ids, " ", [&](std::string* text, TensorId id) {
        text->append(name(id));
      });
    };
    absl::StrAppend(&out, "group ", g, ": ", join(group.members),
                    "\n  reads   ", join(group.inputs), "\n  writes  ",
                    name(group.output), "  ",
                    plan.layouts.at(group.output).ToString(), "\n  ends    ",
                    group.why, "\n");
  }
  for (const auto& [view, source] : plan.views)
    absl::StrAppend(&out, "view ", name(view), " of ", name(source), "\n");
  return out;
}

}  // namespace tilewright
