#include "sketch/fused/stage_decisions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/fused/given_out_tiles.h"
#include "sketch/fused/scratch_layouts.h"
#include "sketch/fused/stage_workload.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/window_schedule.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/plan/task_steps.h"
#include "tilegraph/traffic/neighbour_tiles.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kLeastTasksPerCore = 4;

// Channels of images, dimension 1, may lie in blocks of so many; 0: they do
// not.
constexpr size_t kLeastRankOfImages = 3;
constexpr int64_t kChannelBlocks[] = {0, 4, 8, 16, 32, 64};

bool IsComputed(const TensorGraph& graph, const std::string& name) {
  const std::optional<TensorId> id = graph.Find(name);
  return id && graph.tensor(*id).kind == TensorKind::kCompute;
}

const std::string& NameOf(const Workload& workload, const StagePlan& plan,
                          size_t stage) {
  return workload.graph.tensor(plan.stages[stage].members.back()).name;
}

// How many elements along each dimension lie together in a layout.
std::vector<int64_t> BlocksOf(const Layout& layout) {
  std::vector<int64_t> blocks(layout.shape().size(), 1);
  for (const Layout::Digit& digit : layout.digits())
    blocks[digit.dim] = std::max(blocks[digit.dim], digit.div);
  return blocks;
}

// The most of `count` units that go into one so that `least` are left.
int64_t MostTogether(int64_t count, int64_t least) {
  return least <= 1 ? count : std::max<int64_t>(1, (count - 1) / (least - 1));
}

int64_t CoresOf(const DeviceSpec& spec) {
  return std::max<int64_t>(1, spec.unit().cores());
}

// Where blocks of a reduction are around all tiles, nothing is kept from tile
// to tile.
std::optional<TaskSteps> StepsByRule(const Workload& workload,
                                     const DeviceSpec& spec,
                                     const StagePlan& plan) {
  std::vector<std::vector<TensorId>> stages;
  for (const StagePlan::Stage& stage : plan.stages) {
    if (stage.reduce_step > 0) return std::nullopt;
    stages.push_back(stage.members);
  }
  const TensorId output = stages.back().back();
  NeighbourTiles neighbours(workload.graph, stages);
  return ChooseTaskSteps(workload.graph.tensor(output).static_shape(),
                         plan.tile, FindContiguous(workload, output).dim,
                         CoresOf(spec),
                         [&](const auto& tile, size_t axis, int64_t tiles) {
                           return neighbours.Overlap(tile, axis, tiles);
                         });
}

class TaskDecisions {
 public:
  TaskDecisions(const Workload& workload, const DeviceSpec& spec,
                int64_t wished, StagePlan& plan, Decider& decider)
      : workload_(workload),
        spec_(spec),
        plan_(plan),
        decider_(decider),
        output_(plan.stages.back().members.back()),
        shape_(workload.graph.tensor(output_).static_shape()),
        least_(std::min(wished, kLeastTasksPerCore * CoresOf(spec))) {}

  absl::Status Run() {
    TW_RETURN_IF_ERROR(DecideTile());
    DecideSteps(StepsByRule(workload_, spec_, plan_));
    return absl::OkStatus();
  }

 private:
  int64_t Tiles(size_t dim) const {
    return CeilDiv(shape_[dim], plan_.tile[dim]);
  }

  // The first dimensions may take all that the others leave over.
  absl::Status DecideTile() {
    std::vector<int64_t> blocks = BlocksOf(workload_.LayoutOf(output_));
    TW_ASSIGN_OR_RETURN(const std::vector<bool> may_cut,
                        MayCut(workload_, plan_, blocks));
    for (size_t i = 0; i < shape_.size(); ++i) {
      if (!may_cut[i] && plan_.tile[i] == shape_[i]) blocks[i] = shape_[i];
    }
    int64_t others = 1;  // tiles along dimensions before, units behind
    for (size_t i = 0; i < shape_.size(); ++i)
      others *= CeilDiv(shape_[i], blocks[i]);
    for (size_t i = 0; i < shape_.size(); ++i) {
      const int64_t units = CeilDiv(shape_[i], blocks[i]);
      others /= units;
      const int64_t most = MostTogether(units, CeilDiv(least_, others));
      // Families choose lanes and partial sums by extents.
      const int64_t taken = decider_.DecideNumber(
          absl::StrCat("tile.d", i), Space::Integers(1, most),
          [&] { return std::min(most, CeilDiv(plan_.tile[i], blocks[i])); },
          Bits::kMayChange);
      plan_.tile[i] = std::min(shape_[i], taken * blocks[i]);
      others *= Tiles(i);
    }
    return absl::OkStatus();
  }

  void DecideSteps(const std::optional<TaskSteps>& rule) {
    int64_t tiles = 1;
    for (size_t i = 0; i < shape_.size(); ++i) tiles *= Tiles(i);
    std::vector<std::string> options = {"none"};
    std::vector<TaskSteps> most = {{-1, 1}};
    int64_t preferred = 0;
    for (size_t i = 0; i < shape_.size(); ++i) {
      const int64_t steps =
          MostTogether(Tiles(i), CeilDiv(least_, tiles / Tiles(i)));
      if (steps < 2) continue;
      if (rule && rule->axis == static_cast<int>(i))
        preferred = static_cast<int64_t>(options.size());
      options.push_back(absl::StrCat("d", i));
      most.push_back({static_cast<int>(i), steps});
    }
    // Stages that keep rows from tile to tile compute fewer at a time, and
    // lowering may then add up in another order.
    const int64_t axis = decider_.DecideNumber(
        "task.axis", Space::OneOf(std::move(options)),
        [&] { return preferred; }, Bits::kMayChange);
    if (axis == 0) return;
    const int64_t wished = rule && axis == preferred ? rule->tiles : 2;
    const int64_t steps = decider_.DecideNumber(
        "task.steps", Space::Integers(2, most[axis].tiles),
        [&] { return std::min(wished, most[axis].tiles); }, Bits::kMayChange);
    plan_.steps = TaskSteps{most[axis].axis, steps};
  }

  const Workload& workload_;
  const DeviceSpec& spec_;
  StagePlan& plan_;
  Decider& decider_;
  const TensorId output_;
  const std::vector<int64_t> shape_;
  const int64_t least_;  // tasks
};

}  // namespace

absl::StatusOr<int> BlockedAxis(const Workload& group, const Workload& part) {
  TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(part.graph));
  const Tensor& output = part.graph.tensor(part.graph.outputs()[0]);
  const auto refused = [&](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat(
        output.name, " ", why, ": no steps of it can be taken at a time"));
  };
  const std::string none = "does not reduce what stages before it compute";
  if (!chain.reduction) return refused(none);
  if (IsWindow(part, chain)) return refused("is no contraction");
  const Tensor& reduction = part.graph.tensor(*chain.reduction);
  if (reduction.static_shape() != output.static_shape())
    return refused("is of another shape than its sums");
  const int spatial = static_cast<int>(reduction.compute.axes.size());
  std::optional<int> axis;
  ForEachLoad(InlinedBody(part.graph, reduction.id), [&](const Expr& load) {
    if (!IsComputed(group.graph, part.graph.tensor(load.source()).name)) return;
    for (const Expr& index : load.operands()) {
      if (index.op() == Op::kVar && index.var_id() >= spatial)
        axis = index.var_id() - spatial;
    }
  });
  if (!axis) return refused(none);
  return *axis;
}

absl::Status DecideReduceSteps(const Workload& workload, StagePlan& plan,
                               Decider& decider) {
  const TensorGraph& graph = workload.graph;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    StagePlan::Stage& stage = plan.stages[s];
    const bool reduces = std::any_of(
        stage.members.begin(), stage.members.end(), [&](TensorId member) {
          return graph.tensor(member).compute.combiner.has_value();
        });
    // The first stage reads nothing that the group computes.
    if (stage.reduce_step == 0 && (s == 0 || !reduces)) continue;
    TW_ASSIGN_OR_RETURN(const Workload part,
                        StageWorkload(workload, plan, s, stage.layout));
    const absl::StatusOr<int> axis = BlockedAxis(workload, part);
    if (!axis.ok()) {
      if (stage.reduce_step > 0) return axis.status();
      continue;
    }
    int64_t extent = 1;
    for (const Tensor& tensor : part.graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute && tensor.compute.combiner)
        extent = tensor.compute.reduce_axes[*axis].extent.value();
    }
    const Decider::Scope scope(decider, NameOf(workload, plan, s));
    stage.reduce_step = decider.DecideNumber(
        "reduce.step", Space::Integers(0, extent),
        [&] { return std::clamp<int64_t>(stage.reduce_step, 0, extent); },
        Bits::kMayChange);
  }
  return absl::OkStatus();
}

absl::Status DecideTasks(const Workload& workload, const DeviceSpec& spec,
                         int64_t wished, StagePlan& plan, Decider& decider) {
  return TaskDecisions(workload, spec, wished, plan, decider).Run();
}

int64_t TasksOf(const Workload& workload, const DeviceSpec& spec,
                const StagePlan& plan) {
  const std::vector<int64_t> shape =
      workload.graph.tensor(plan.stages.back().members.back()).static_shape();
  const std::optional<TaskSteps> rule = StepsByRule(workload, spec, plan);
  int64_t tasks = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t tiles = CeilDiv(shape[i], plan.tile[i]);
    tasks *= rule && rule->axis == static_cast<int>(i)
                 ? CeilDiv(tiles, rule->tiles)
                 : tiles;
  }
  return tasks;
}

void DecideScratch(const Workload& workload, size_t stage, StagePlan& plan,
                   Decider& decider) {
  const TensorId result = plan.stages[stage].members.back();
  if (LeavesGroup(workload.graph, result)) return;
  Layout& layout = plan.stages[stage].layout;
  const std::vector<int64_t> shape =
      workload.graph.tensor(result).static_shape();
  if (shape.empty()) return;  // a scalar has no order
  const ScratchOrder preferred = OrderOf(layout);
  std::vector<std::string> dims;
  dims.reserve(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    dims.push_back(absl::StrCat("d", d));
  const Decider::Scope scope(decider, NameOf(workload, plan, stage));
  // Families choose lanes by what lies side by side.
  ScratchOrder order;
  order.dims = decider.Decide(
      "scratch.order", Space::Permutation(std::move(dims)),
      [&] { return preferred.dims; }, Bits::kMayChange);
  if (shape.size() >= kLeastRankOfImages) {
    std::vector<std::string> options = {"none"};
    int64_t index = 0;
    for (size_t i = 1; i < std::size(kChannelBlocks); ++i) {
      options.push_back(absl::StrCat("d1/", kChannelBlocks[i]));
      if (kChannelBlocks[i] == preferred.block) index = static_cast<int64_t>(i);
    }
    order.block = kChannelBlocks[decider.DecideNumber(
        "scratch.block", Space::OneOf(std::move(options)),
        [&] { return index; }, Bits::kMayChange)];
  }
  layout = LayoutInOrder(order, shape);
}

bool DecideRolling(const Workload& workload, const StagePlan& plan, size_t rows,
                   bool holds, Decider& decider) {
  std::vector<std::string> options = {"whole"};
  if (holds) options.emplace_back("rolling");
  const Decider::Scope scope(decider, NameOf(workload, plan, rows));
  return decider.DecideNumber(
             "online", Space::OneOf(std::move(options)),
             [&] { return holds ? 1 : 0; }, Bits::kMayChange) == 1;
}

}  // namespace tilewright::sketch
