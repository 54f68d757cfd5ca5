#include "sketch/staged_schedule.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/default_schedule.h"
#include "sketch/group_chain.h"
#include "sketch/output_tiles.h"
#include "sketch/place.h"
#include "sketch/replayer.h"
#include "sketch/rolling_rows.h"
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
          const StagePlan& plan, Decider& decider, Replayer replayer,
          bool may_roll)
      : workload_(workload),
        may_roll_(may_roll),
        graph_(workload.graph),
        spec_(spec),
        plan_(MovePaddings(workload.graph, plan)),
        decider_(decider),
        replayer_(std::move(replayer)) {}

  absl::StatusOr<Schedule> Run() {
    std::vector<tilewright::Stage> stages;
    for (const StagePlan::Stage& stage : plan_.stages)
      stages.push_back({stage.members});
    const TensorId result = plan_.stages.back().members.back();
    const bool in_blocks =
        std::any_of(plan_.stages.begin(), plan_.stages.end(),
                    [](const auto& stage) { return stage.reduce_step > 0; });
    if (!in_blocks) {
      TW_ASSIGN_OR_RETURN(steps_,
                          ChooseTaskSteps(graph_, stages, plan_.tile,
                                          FindContiguous(workload_, result).dim,
                                          spec_.unit().cores()));
    }
    for (size_t stage = plan_.stages.size(); stage-- > 0;) {
      const TensorId output = plan_.stages[stage].members.back();
      const bool last = stage + 1 == plan_.stages.size();
      if (rolling_ && rolling_->stage == stage) {
        TW_RETURN_IF_ERROR(RollRows());
        continue;
      }
      TW_RETURN_IF_ERROR(FindRolling(stage));
      const Handle block = writer_.Block(WriterOf(output));
      Handle inside = inside_;
      Layout layout;
      if (last) {
        WriteTasks(output, block);
        inside = inside_;
        TW_RETURN_IF_ERROR(CatchUp());
        layout = LayoutOfBox(workload_.LayoutOf(output), Tile(output));
      } else if (LeavesGroup(graph_, output)) {
        writer_.ComputeAt(block, inside_);
        TW_RETURN_IF_ERROR(CatchUp());
        layout = LayoutOfBox(workload_.LayoutOf(output), LoopExtents(output));
      } else {
        TW_ASSIGN_OR_RETURN(inside, PlaceOf(stage, block));
        writer_.ComputeAt(block, inside);
        TW_RETURN_IF_ERROR(CatchUp());
        layout = LayoutOfStage(replayer_, stage);
        writer_.SetLayout(graph_.tensor(output).name, layout.ToString());
      }
      TW_ASSIGN_OR_RETURN(Workload part, StageWorkload(workload_, plan_, stage,
                                                       std::move(layout)));
      const bool product = rolling_ && rolling_inside_ < 0;
      if (product) part = RollingPart(workload_, part, *rolling_);
      Place place = {writer_, decider_, inside, {CutOf(output, part)}};
      const Decider::Scope scope(decider_, graph_.tensor(output).name);
      if (!last && !LeavesGroup(graph_, output)) {
        TW_ASSIGN_OR_RETURN(place.bounds.rolls, Roll(part, block));
      }
      if (plan_.stages[stage].reduce_step > 0) {
        TW_ASSIGN_OR_RETURN(place.blocks, BlocksOf(stage, part));
      }
      TW_ASSIGN_OR_RETURN(const std::optional<Handle> blocks,
                          WriteStage(part, spec_, place));
      if (blocks) blocks_.push_back(*blocks);
      if (!product) continue;
      if (!blocks)
        return absl::InvalidArgumentError(
            absl::StrCat(graph_.tensor(output).name,
                         " takes all its steps at once: nothing rolls"));
      rolling_inside_ = inside;
      rolling_steps_ = place.blocks->steps;
    }
    if (rolling_) {
      TW_RETURN_IF_ERROR(CatchUp());
      TW_RETURN_IF_ERROR(replayer_.Finish());
    }
    return std::move(writer_).Finish();
  }

  bool rolls() const { return rolling_.has_value(); }

 private:
  const Buffer& BufferOf(Replayer& replayer, TensorId tensor) {
    const std::vector<Buffer>& buffers = replayer.tree().buffers;
    return *std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) {
      return b.name == graph_.tensor(tensor).name;
    });
  }

  // The block that writes a tensor: of accumulators of another type, the copy
  // out of them.
  std::string WriterOf(TensorId tensor) {
    return FindWriter(replayer_.tree(), BufferOf(replayer_, tensor).id)
        .back()
        .node()
        .block->name;
  }

  // Of the part of it that is kept where it stands.
  Layout LayoutOfStage(Replayer& replayer, size_t stage) {
    const Buffer& buffer =
        BufferOf(replayer, plan_.stages[stage].members.back());
    return LayoutInScratch(plan_.stages[stage].layout, buffer.layout.shape(),
                           SizeBytes(buffer.dtype));
  }

  // The reduce axis of a stage over what others before it compute.
  absl::StatusOr<Place::ReduceBlocks> BlocksOf(size_t stage,
                                               const Workload& part) {
    TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(part.graph));
    const Tensor& output = part.graph.tensor(part.graph.outputs()[0]);
    const auto refused = [&](const std::string& why) {
      return absl::InvalidArgumentError(absl::StrCat(
          output.name, " ", why, ": no steps of it can be taken at a time"));
    };
    const std::string none = "does not reduce what stages before it compute";
    if (!chain.reduction) return refused(none);
    const Tensor& reduction = part.graph.tensor(*chain.reduction);
    if (reduction.static_shape() != output.static_shape())
      return refused("is of another shape than its sums");
    const int spatial = static_cast<int>(reduction.compute.axes.size());
    std::optional<int> axis;
    ForEachLoad(InlinedBody(part.graph, reduction.id), [&](const Expr& load) {
      if (!IsComputed(part.graph.tensor(load.source()).name)) return;
      for (const Expr& index : load.operands()) {
        if (index.op() == Op::kVar && index.var_id() >= spatial)
          axis = index.var_id() - spatial;
      }
    });
    if (!axis) return refused(none);
    return Place::ReduceBlocks{*axis, plan_.stages[stage].reduce_step};
  }

  // Whether the group computes it.
  bool IsComputed(const std::string& name) const {
    return std::any_of(
        graph_.tensors().begin(), graph_.tensors().end(), [&](const Tensor& t) {
          return t.name == name && t.kind == TensorKind::kCompute;
        });
  }

  // Looks for rows whose reductions can follow the blocks of a stage's steps,
  // and makes what that needs of it.
  absl::Status FindRolling(size_t stage) {
    if (!may_roll_ || rolling_ || plan_.stages[stage].reduce_step == 0)
      return absl::OkStatus();
    rolling_ = FindRollingRows(workload_, plan_, stage);
    // What others read too has to be right when it is written.
    if (rolling_ &&
        LeavesGroup(graph_, plan_.stages[rolling_->stage].members.back()))
      rolling_.reset();
    if (!rolling_) return absl::OkStatus();
    WriteRollingInlines(workload_, *rolling_, writer_);
    return CatchUp();
  }

  absl::Status RollRows() {
    const int64_t extent =
        graph_.tensor(rolling_->product).compute.reduce_axes[0].extent.value();
    const Factors split = {CeilDiv(extent, rolling_steps_), rolling_steps_};
    return WriteRollingRows(
        workload_, *rolling_,
        {writer_, replayer_, [this] { return CatchUp(); }, rolling_inside_,
         blocks_.back(), split, Lanes(graph_, spec_)});
  }

  // How many elements the reductions of a stage have, or else its output, if it
  // is computed in that loop; nullopt: it cannot be.
  absl::StatusOr<std::optional<std::vector<int64_t>>> ElementsIn(Handle loop,
                                                                 size_t stage,
                                                                 Handle block) {
    Replayer trial = replayer_.Clone();
    const Instruction compute_at = {
        Primitive::kComputeAt, {block, loop}, {}, "", {}};
    if (!trial.Apply(compute_at).ok()) return std::nullopt;
    TW_ASSIGN_OR_RETURN(
        const Workload part,
        StageWorkload(workload_, plan_, stage, LayoutOfStage(trial, stage)));
    std::vector<int64_t> elements;
    for (const Tensor& tensor : part.graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute && tensor.compute.combiner)
        elements.push_back(tensor.num_elements());
    }
    if (elements.empty())
      elements.push_back(
          part.graph.tensor(part.graph.outputs()[0]).num_elements());
    return elements;
  }

  // The innermost loop over blocks in which nothing of the stage is computed
  // more often than in the loop of the task; else that one.
  absl::StatusOr<Handle> PlaceOf(size_t stage, Handle block) {
    if (blocks_.empty()) return inside_;
    TW_RETURN_IF_ERROR(CatchUp());
    TW_ASSIGN_OR_RETURN(const auto whole, ElementsIn(inside_, stage, block));
    for (size_t i = blocks_.size(); whole && i-- > 0;) {
      TW_ASSIGN_OR_RETURN(const auto part,
                          ElementsIn(blocks_[i], stage, block));
      if (part && std::equal(part->begin(), part->end(), whole->begin(),
                             whole->end(), std::less<>()))
        return blocks_[i];
    }
    return inside_;
  }

  // Of the loops over the axes of a stage's result that was just placed.
  std::vector<int64_t> LoopExtents(TensorId output) {
    const Path path =
        FindWriter(replayer_.tree(), BufferOf(replayer_, output).id);
    const Block& block = *path.back().node().block;
    const size_t first = path.size() - 1 - block.bindings.size();
    std::vector<int64_t> extents;
    for (size_t i = 0; i < block.axes.size(); ++i)
      extents.push_back(path[first + i].node().loop->extent);
    return extents;
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
    std::vector<Factors> tasks;
    std::vector<int64_t> extents = tile;  // of a task
    if (steps_)
      extents[steps_->axis] =
          std::min(shape[steps_->axis], steps_->tiles * tile[steps_->axis]);
    for (size_t i = 0; i < shape.size(); ++i) {
      tasks.push_back(Factors{CeilDiv(shape[i], extents[i]), extents[i]});
    }
    inside_ = writer_.GroupTile({block}, tasks).back();
    if (!steps_) return;
    const int axis = steps_->axis;
    const auto loop = [&](int i) {
      return writer_.Loop(block, graph_.tensor(output).compute.axes[i].name);
    };
    inside_ = writer_.Split(
        loop(axis), Factors{CeilDiv(extents[axis], tile[axis]), tile[axis]})[0];
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
    if (!trial.Apply(rolling).ok()) return rolls;
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
      TW_RETURN_IF_ERROR(replayer_.Apply(schedule.instructions[replayed_]));
    }
    return absl::OkStatus();
  }

  const Workload& workload_;
  const bool may_roll_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const StagePlan plan_;
  Decider& decider_;
  Replayer replayer_;
  size_t replayed_ = 0;
  ScheduleWriter writer_;
  std::optional<TaskSteps> steps_;
  Handle inside_ = -1;  // the loop of a task that all stages stand in
  // In that one or in each other: those over blocks of a stage's reduction.
  std::vector<Handle> blocks_;
  // Rows that follow the last of those, and the loop that it stands in.
  std::optional<RollingRows> rolling_;
  Handle rolling_inside_ = -1;
  int64_t rolling_steps_ = 0;
};

absl::StatusOr<Schedule> WriteStages(const Workload& workload,
                                     const DeviceSpec& spec,
                                     const FusedWishes& wishes,
                                     Decider& decider) {
  TW_ASSIGN_OR_RETURN(const StagePlan plan, WishedPlan(workload, wishes));
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  {
    Decider::Trial trial(decider);
    Builder rolling(workload, spec, plan, decider, replayer.Clone(), true);
    absl::StatusOr<Schedule> schedule = rolling.Run();
    if (schedule.ok()) trial.Keep();
    if (schedule.ok() || !rolling.rolls()) return schedule;
  }
  // There is no repair of what its rows make.
  return Builder(workload, spec, plan, decider, std::move(replayer), false)
      .Run();
}

}  // namespace

Generator FusedGenerator(FusedWishes wishes) {
  return {"fused", [wishes = std::move(wishes)](const Workload& workload,
                                                const DeviceSpec& spec,
                                                Decider& decider) {
            return WriteStages(workload, spec, wishes, decider);
          }};
}

absl::StatusOr<Schedule> StagedSchedule(const Workload& workload,
                                        const DeviceSpec& spec,
                                        const FusedWishes& wishes) {
  return GeneratePreferred(FusedGenerator(wishes), workload, spec);
}

}  // namespace tilewright::sketch
