#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/string_view.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/plan/memory_of.h"
#include "tilegraph/traffic/tile_graph.h"
#include "tilegraph/traffic/tile_work.h"
#include "tools/plan/picture_text.h"
#include "tools/plan/plan_picture.h"

namespace tilewright::tools {
namespace {

std::string OperatorsOf(const TensorGraph& graph,
                        const std::vector<TensorId>& members) {
  std::vector<std::string> names;
  for (const TensorId member : members) {
    const Tensor& tensor = graph.tensor(member);
    const std::string name = !tensor.hint.word().empty() ? tensor.hint.word()
                             : tensor.compute.combiner   ? "reduce"
                                                         : "map";
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return absl::StrJoin(names, "+");
}

std::string ShapeOf(const Tensor& tensor) {
  return absl::StrCat(absl::StrJoin(tensor.static_shape(), "×"), " ",
                      ToAbsl(Name(tensor.dtype)));
}

double Bytes(const Tensor& tensor) {
  return static_cast<double>(tensor.num_bytes());
}

Limit LimitOf(GroupEvaluator::CpuLevel level) {
  return level == GroupEvaluator::CpuLevel::kPrivate  ? Limit::kPrivate
         : level == GroupEvaluator::CpuLevel::kShared ? Limit::kShared
                                                      : Limit::kMemory;
}

// The component that takes the longest of a group's predicted time.
Limit LimitOf(const GroupCost& cost, const GroupEvaluator& evaluator) {
  if (cost.plan.tile.empty()) return Limit::kUnknown;
  Limit limit = Limit::kCompute;
  double most = cost.work_seconds;
  for (const auto& [level, bytes] :
       {std::pair(GroupEvaluator::CpuLevel::kMemory, cost.memory_bytes),
        std::pair(GroupEvaluator::CpuLevel::kShared, cost.shared_bytes),
        std::pair(GroupEvaluator::CpuLevel::kPrivate, cost.private_bytes)}) {
    const double rate = evaluator.LevelOf(level).read_bytes_per_s();
    if (rate <= 0 || bytes / rate <= most) continue;
    most = bytes / rate;
    limit = LimitOf(level);
  }
  return limit;
}

// Tiles of all stages, where regions can be told.
std::vector<PictureStage> StagesOf(const TensorGraph& graph,
                                   const Group& group) {
  std::vector<PictureStage> stages;
  if (group.stages.empty()) return stages;
  std::map<TensorId, const TileOperand*> operands;
  const TileGraph tiles(graph, group.members);
  const absl::StatusOr<TileWork> work = WorkOfTiles(
      tiles, tiles.SubgraphOf(group.members), {group.tile_plan.tile, {}}, {});
  if (work.ok()) {
    for (const auto* list : {&work->inside, &work->outputs}) {
      for (const TileOperand& operand : *list)
        operands[operand.tensor] = &operand;
    }
  }
  for (const Stage& stage : group.stages) {
    PictureStage& one = stages.emplace_back();
    one.operators = OperatorsOf(graph, stage.members);
    const auto found = operands.find(stage.members.back());
    if (found == operands.end()) continue;
    one.tile = found->second->extents;
    one.bytes = found->second->step_bytes;
  }
  return stages;
}

class Maker {
 public:
  Maker(const CompiledModel& compiled, const PlanReport& report,
        const DeviceSpec& spec)
      : compiled_(compiled),
        graph_(compiled.graph),
        plan_(compiled.plan),
        report_(report),
        evaluator_(compiled.graph, compiled.plan, spec) {}

  Picture Make() {
    FindProducers();
    FoldSiblings();
    FoldRepeats();
    AddInputs();
    AddGroups();
    AddOutputs();
    picture_.levels = {
        "compute",
        evaluator_.LevelOf(GroupEvaluator::CpuLevel::kPrivate).name(),
        evaluator_.LevelOf(GroupEvaluator::CpuLevel::kShared).name(),
        evaluator_.LevelOf(GroupEvaluator::CpuLevel::kMemory).name(), ""};
    return std::move(picture_);
  }

 private:
  // Groups of one kernel that read the same.
  struct Bundle {
    std::vector<int> groups;
    std::vector<int> sources;      // bundles, ascending
    std::vector<TensorId> inputs;  // placeholders, ascending
  };

  void FindProducers() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      for (const TensorId output : OutputsOf(plan_.groups[g])) {
        exactly_[output].push_back(static_cast<int>(g));
        by_root_[MemoryOf(plan_, output)].push_back(static_cast<int>(g));
      }
    }
  }

  // The tensors written by `producer` that `reader` reads; it reads some of it.
  std::vector<TensorId> ReadBy(const Group& reader,
                               const Group& producer) const {
    std::vector<TensorId> read;
    for (const TensorId output : OutputsOf(producer)) {
      if (std::any_of(
              reader.inputs.begin(), reader.inputs.end(), [&](TensorId input) {
                return MemoryOf(plan_, input) == MemoryOf(plan_, output);
              }))
        read.push_back(output);
    }
    return read.empty() ? std::vector<TensorId>{producer.output} : read;
  }

  // Several where they write parts of a concatenation.
  const std::vector<int>& ProducersOf(TensorId id) const {
    static const std::vector<int> none;
    const auto exact = exactly_.find(id);
    if (exact != exactly_.end()) return exact->second;
    const auto parts = by_root_.find(MemoryOf(plan_, id));
    return parts == by_root_.end() ? none : parts->second;
  }

  void FoldSiblings() {
    using Key = std::pair<std::pair<int, int>,
                          std::pair<std::vector<int>, std::vector<TensorId>>>;
    std::map<Key, int> known;
    bundle_of_.assign(plan_.groups.size(), -1);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      Bundle bundle;
      bundle.groups = {static_cast<int>(g)};
      std::set<int> sources;
      std::set<TensorId> inputs;
      for (const TensorId input : plan_.groups[g].inputs) {
        const Tensor& root = graph_.tensor(MemoryOf(plan_, input));
        if (root.kind == TensorKind::kPlaceholder) inputs.insert(root.id);
        for (const int producer : ProducersOf(input)) {
          // A view of a group's own part of a concatenation.
          if (producer < static_cast<int>(g))
            sources.insert(bundle_of_[producer]);
        }
      }
      bundle.sources.assign(sources.begin(), sources.end());
      bundle.inputs.assign(inputs.begin(), inputs.end());
      const int kernel = compiled_.kernel_of_group[g];
      // Copies have no kernel: each for itself.
      const int alone = kernel < 0 ? static_cast<int>(g) : -1;
      const auto [found, added] =
          known.emplace(Key{{kernel, alone}, {bundle.sources, bundle.inputs}},
                        static_cast<int>(bundles_.size()));
      bundle_of_[g] = found->second;
      if (added)
        bundles_.push_back(std::move(bundle));
      else
        bundles_[found->second].groups.push_back(static_cast<int>(g));
    }
  }

  void FoldRepeats() {
    std::map<std::pair<int, size_t>, int> kinds;
    std::vector<PlanStep> steps;
    for (const Bundle& bundle : bundles_) {
      const int kernel = compiled_.kernel_of_group[bundle.groups[0]];
      const auto kind = kinds.emplace(std::pair(kernel, bundle.groups.size()),
                                      static_cast<int>(kinds.size()));
      steps.push_back({kind.first->second, bundle.sources});
    }
    // How many bundles each stands for, and which remain.
    std::vector<int> stands_for(bundles_.size());
    std::iota(stands_for.begin(), stands_for.end(), 0);
    const std::vector<Repeat> repeats = FindRepeats(steps);
    // Inner ones first: the first round of an outer one is settled then.
    for (auto repeat = repeats.rbegin(); repeat != repeats.rend(); ++repeat) {
      const int length = repeat->end - repeat->begin;
      for (int i = length; i < length * repeat->times; ++i)
        stands_for[repeat->begin + i] = stands_for[repeat->begin + i % length];
    }
    drawn_of_.assign(bundles_.size(), -1);
    for (size_t b = 0; b < bundles_.size(); ++b) {
      if (stands_for[b] != static_cast<int>(b)) continue;
      drawn_of_[b] = static_cast<int>(drawn_.size());
      drawn_.push_back({static_cast<int>(b)});
    }
    for (size_t b = 0; b < bundles_.size(); ++b) {
      if (stands_for[b] == static_cast<int>(b)) continue;
      drawn_of_[b] = drawn_of_[stands_for[b]];
      drawn_[drawn_of_[b]].push_back(static_cast<int>(b));
    }
    for (const Repeat& repeat : repeats) {
      Repeat frame = repeat;
      frame.begin = drawn_of_[repeat.begin];
      frame.end = frame.begin;
      for (int b = repeat.begin; b < repeat.end; ++b)
        frame.end = std::max(frame.end, drawn_of_[b] + 1);
      picture_.frames.push_back(frame);
    }
  }

  // Names of tensors, so that a box stays readable.
  static std::string Names(const std::vector<std::string>& names) {
    if (names.size() == 1) return names[0];
    return absl::StrCat(names.size(), ": ", absl::StrJoin(names, ", "));
  }

  // Inputs that the same boxes read are one.
  void AddInputs() {
    std::map<TensorId, std::set<int>> readers;
    for (size_t d = 0; d < drawn_.size(); ++d) {
      for (const int bundle : drawn_[d]) {
        for (const TensorId input : bundles_[bundle].inputs)
          readers[input].insert(static_cast<int>(d));
      }
    }
    std::map<std::set<int>, std::vector<TensorId>> boxes;
    for (const auto& [input, of_input] : readers)
      boxes[of_input].push_back(input);
    std::vector<std::pair<std::vector<TensorId>, std::set<int>>> ordered;
    for (auto& [of_inputs, inputs] : boxes)
      ordered.emplace_back(inputs, of_inputs);
    std::sort(ordered.begin(), ordered.end());
    first_group_ = static_cast<int>(ordered.size());
    for (const auto& [inputs, of_inputs] : ordered) {
      PictureBox& box = picture_.boxes.emplace_back();
      box.kind = PictureBox::Kind::kInput;
      double bytes = 0;
      std::vector<std::string> names;
      for (const TensorId input : inputs) {
        const Tensor& tensor = graph_.tensor(input);
        names.push_back(tensor.name);
        bytes += Bytes(tensor);
        box.tensors.push_back(
            {tensor.name, Bytes(tensor), WhereRead(input, *of_inputs.begin())});
      }
      box.title = Names(names);
      box.shape = ShapeOf(graph_.tensor(inputs[0]));
      for (const int reader : of_inputs) {
        picture_.arrows.push_back({static_cast<int>(picture_.boxes.size()) - 1,
                                   first_group_ + reader,
                                   WhereRead(inputs[0], reader), bytes});
      }
    }
    for (Repeat& frame : picture_.frames) {
      frame.begin += first_group_;
      frame.end += first_group_;
    }
  }

  // Where the first group of a box finds it.
  Limit WhereRead(TensorId id, int drawn) const {
    const Bundle& bundle = bundles_[drawn_[drawn][0]];
    return LimitOf(
        evaluator_.TensorLevelOf(id, plan_.groups[bundle.groups[0]]));
  }

  void AddGroups() {
    for (const std::vector<int>& drawn : drawn_) {
      const Bundle& bundle = bundles_[drawn[0]];
      const int first = bundle.groups[0];
      const Group& group = plan_.groups[first];
      PictureBox& box = picture_.boxes.emplace_back();
      for (const int b : drawn) {
        const std::vector<int>& groups = bundles_[b].groups;
        box.groups.insert(box.groups.end(), groups.begin(), groups.end());
      }
      std::sort(box.groups.begin(), box.groups.end());
      box.times = static_cast<int>(bundle.groups.size());
      if (compiled_.kernel_of_group[first] < 0)
        box.title = "copy between host and device";
      else if (!group.stages.empty())
        box.title = absl::StrCat(group.stages.size(), " stages");
      else
        box.title = OperatorsOf(graph_, group.members);
      box.shape = ShapeOf(graph_.tensor(group.output));
      const GroupCost& cost = report_.groups[first].cost;
      if (!cost.plan.tile.empty())
        box.time = SecondsText(cost.one_core_seconds);
      box.limit = LimitOf(cost, evaluator_);
      box.stages = StagesOf(graph_, group);
      for (const TensorId id : OutputsOf(group)) {
        const Tensor& output = graph_.tensor(id);
        box.tensors.push_back({output.name, Bytes(output),
                               LimitOf(evaluator_.TensorLevelOf(id, group))});
      }
      for (const int source : bundle.sources) {
        const int from = drawn_of_[source];
        const int to = drawn_of_[drawn[0]];
        if (from == to) continue;
        const std::vector<TensorId> read =
            ReadBy(group, plan_.groups[bundles_[source].groups[0]]);
        double bytes = 0;
        for (const TensorId id : read) bytes += Bytes(graph_.tensor(id));
        picture_.arrows.push_back(
            {first_group_ + from, first_group_ + to,
             LimitOf(evaluator_.TensorLevelOf(read[0], group)), bytes});
      }
    }
  }

  // Outputs of one box are one.
  void AddOutputs() {
    std::map<int, std::vector<TensorId>> boxes;
    for (const TensorId output : graph_.outputs()) {
      for (const int producer : ProducersOf(output))
        boxes[drawn_of_[bundle_of_[producer]]].push_back(output);
    }
    for (const auto& [drawn, outputs] : boxes) {
      PictureBox& box = picture_.boxes.emplace_back();
      box.kind = PictureBox::Kind::kOutput;
      std::vector<std::string> names;
      double bytes = 0;
      for (const TensorId output : outputs) {
        names.push_back(graph_.tensor(output).name);
        bytes += Bytes(graph_.tensor(output));
      }
      box.title = Names(names);
      box.shape = ShapeOf(graph_.tensor(outputs[0]));
      picture_.arrows.push_back(
          {first_group_ + drawn, static_cast<int>(picture_.boxes.size()) - 1,
           LimitOf(evaluator_.TensorLevelOf(
               outputs[0], plan_.groups[ProducersOf(outputs[0])[0]])),
           bytes});
    }
  }

  const CompiledModel& compiled_;
  const TensorGraph& graph_;
  const Plan& plan_;
  const PlanReport& report_;
  const GroupEvaluator evaluator_;
  std::map<TensorId, std::vector<int>> exactly_, by_root_;  // groups
  std::vector<int> bundle_of_;                              // by group
  std::vector<Bundle> bundles_;
  std::vector<int> drawn_of_;            // by bundle
  std::vector<std::vector<int>> drawn_;  // bundles; the first is shown
  int first_group_ = 0;                  // among the boxes
  Picture picture_;
};

}  // namespace

Picture MakePicture(const CompiledModel& compiled, const PlanReport& report,
                    const DeviceSpec& spec) {
  return Maker(compiled, report, spec).Make();
}

}  // namespace tilewright::tools
