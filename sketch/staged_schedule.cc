#include "sketch/staged_schedule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/default_schedule.h"
#include "sketch/output_tiles.h"
#include "sketch/place.h"
#include "sketch/replayer.h"
#include "sketch/stage_paddings.h"
#include "sketch/stage_workload.h"
#include "sketch/tree_edit.h"
#include "tilegraph/dtype.h"
#include "tilegraph/plan.h"
#include "tilegraph/task_steps.h"

namespace tilewright::sketch {
namespace {

// Writes stage by stage, the last first: a stage can be placed once all that
// reads it is. What a task needs of a stage is what replay finds it needs.
class Builder {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec,
          const StagePlan& plan, Replayer replayer)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        plan_(MovePaddings(workload.graph, plan)),
        replayer_(std::move(replayer)) {}

  absl::StatusOr<Schedule> Run() {
    std::vector<tilewright::Stage> stages;
    for (const StagePlan::Stage& stage : plan_.stages)
      stages.push_back({stage.members});
    const TensorId result = plan_.stages.back().members.back();
    TW_ASSIGN_OR_RETURN(steps_,
                        ChooseTaskSteps(graph_, stages, plan_.tile,
                                        FindContiguous(workload_, result).dim,
                                        spec_.unit().cores()));
    for (size_t stage = plan_.stages.size(); stage-- > 0;) {
      const TensorId output = plan_.stages[stage].members.back();
      const bool last = stage + 1 == plan_.stages.size();
      writer_.NameDecisions(
          last ? "" : absl::StrCat(graph_.tensor(output).name, "."));
      const Handle block = writer_.Block(WriterOf(output));
      Layout layout;
      if (last) {
        WriteTasks(output, block);
        TW_RETURN_IF_ERROR(CatchUp());
        layout = LayoutOfBox(workload_.LayoutOf(output), Tile(output));
      } else {
        writer_.ComputeAt(block, inside_);
        TW_RETURN_IF_ERROR(CatchUp());
        layout = LayoutInScratch(plan_.stages[stage].layout,
                                 BufferOf(output).layout.shape(),
                                 SizeBytes(BufferOf(output).dtype));
        writer_.SetLayout(graph_.tensor(output).name, layout.ToString());
      }
      TW_ASSIGN_OR_RETURN(
          const Workload part,
          StageWorkload(workload_, plan_, stage, std::move(layout)));
      Place place = {writer_, inside_, CutOf(output, part)};
      if (!last) {
        TW_ASSIGN_OR_RETURN(place.rolls, Roll(part, block));
      }
      TW_RETURN_IF_ERROR(WriteStage(part, spec_, place));
    }
    return std::move(writer_).Finish();
  }

 private:
  const Buffer& BufferOf(TensorId tensor) {
    const std::vector<Buffer>& buffers = replayer_.tree().buffers;
    return *std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) {
      return b.name == graph_.tensor(tensor).name;
    });
  }

  // The block that writes a tensor: of accumulators of another type, the copy
  // out of them.
  std::string WriterOf(TensorId tensor) {
    return FindWriter(replayer_.tree(), BufferOf(tensor).id)
        .back()
        .node()
        .block->name;
  }

  std::vector<int64_t> Tile(TensorId output) const {
    std::vector<int64_t> tile = graph_.tensor(output).static_shape();
    for (size_t i = 0; i < tile.size(); ++i)
      tile[i] = std::min(tile[i], plan_.tile[i]);
    return tile;
  }

  std::vector<bool> CutOf(TensorId output, const Workload& part) const {
    const std::vector<int64_t> whole = graph_.tensor(output).static_shape(),
                               held = part.graph.tensor(part.graph.outputs()[0])
                                          .static_shape();
    std::vector<bool> cut;
    for (size_t i = 0; i < whole.size(); ++i) cut.push_back(held[i] < whole[i]);
    return cut;
  }

  void WriteTasks(TensorId output, Handle block) {
    const std::vector<int64_t> shape = graph_.tensor(output).static_shape();
    const std::vector<int64_t> tile = Tile(output);
    std::vector<Decision> tasks;
    std::vector<int64_t> extents = tile;  // of a task
    if (steps_)
      extents[steps_->axis] =
          std::min(shape[steps_->axis], steps_->tiles * tile[steps_->axis]);
    for (size_t i = 0; i < shape.size(); ++i) {
      tasks.push_back(
          SplitDecision(absl::StrCat("task.", i), shape[i],
                        {CeilDiv(shape[i], extents[i]), extents[i]}));
    }
    inside_ = writer_.GroupTile({block}, tasks).back();
    if (!steps_) return;
    const int axis = steps_->axis;
    const auto loop = [&](int i) {
      return writer_.Loop(block, graph_.tensor(output).compute.axes[i].name);
    };
    inside_ = writer_.Split(
        loop(axis),
        SplitDecision("step", extents[axis],
                      {CeilDiv(extents[axis], tile[axis]), tile[axis]}))[0];
    std::vector<Handle> order = {inside_};
    for (int i = 0; i < axis; ++i) order.push_back(loop(i));
    if (order.size() > 1) writer_.Reorder(order);
  }

  // Lets the stage keep what steps share of it; says which dimension rolls.
  absl::StatusOr<std::vector<bool>> Roll(const Workload& part, Handle block) {
    if (!steps_) return std::vector<bool>();
    TW_RETURN_IF_ERROR(CatchUp());
    const TensorId output = part.graph.outputs()[0];
    std::vector<bool> rolls(part.graph.tensor(output).shape.size(), false);
    Replayer trial = replayer_.Clone();
    const Instruction rolling = {
        Primitive::kRolling, {block, inside_}, {}, "", {}};
    if (!trial.Apply(writer_.written(), rolling).ok()) return rolls;
    TW_ASSIGN_OR_RETURN(const Path path, trial.FindBlockOf(block));
    const int dim = path.back().node().block->rolling->dim;
    // Lanes are computed together.
    if (dim == FindContiguous(part, output).dim) return rolls;
    writer_.Rolling(block, inside_);
    rolls[dim] = true;
    return rolls;
  }

  // Replays what has been written since.
  absl::Status CatchUp() {
    const Schedule& schedule = writer_.written();
    for (; replayed_ < schedule.instructions.size(); ++replayed_) {
      TW_RETURN_IF_ERROR(
          replayer_.Apply(schedule, schedule.instructions[replayed_]));
    }
    return absl::OkStatus();
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const StagePlan plan_;
  Replayer replayer_;
  size_t replayed_ = 0;
  ScheduleWriter writer_;
  std::optional<TaskSteps> steps_;
  Handle inside_ = -1;  // the loop that all stages stand in
};

absl::Status CheckPlan(const TensorGraph& graph, const StagePlan& plan) {
  if (graph.outputs().size() != 1 || plan.stages.empty() ||
      plan.stages.back().members.back() != graph.outputs()[0])
    return absl::InvalidArgumentError(
        "a staged schedule is for groups with one output, that of the last "
        "stage");
  const Tensor& output = graph.tensor(graph.outputs()[0]);
  if (output.shape.empty() || plan.tile.size() != output.shape.size())
    return absl::InvalidArgumentError(
        absl::StrCat("a tile of ", output.name, " has ", output.shape.size(),
                     " extents, at least one, not ", plan.tile.size()));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Schedule> StagedSchedule(const Workload& workload,
                                        const DeviceSpec& spec,
                                        const StagePlan& plan) {
  TW_RETURN_IF_ERROR(CheckPlan(workload.graph, plan));
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  return Builder(workload, spec, plan, std::move(replayer)).Run();
}

}  // namespace tilewright::sketch
