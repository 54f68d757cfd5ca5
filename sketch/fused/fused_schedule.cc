#include "sketch/fused/fused_schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/caches.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/fused/rolling_rows.h"
#include "sketch/fused/stage_decisions.h"
#include "sketch/fused/stage_locations.h"
#include "sketch/fused/stage_paddings.h"
#include "sketch/fused/stage_workload.h"
#include "sketch/replay/replayer.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/shared/annotations.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/scratch_layout.h"
#include "tilegraph/plan/tile_plan.h"

namespace tilewright::sketch {
namespace {

// Writes stage by stage, the last first: a stage can be placed once all that
// reads it is. What a task needs of a stage is what replay finds it needs.
class Builder {
 public:
  // `rows`: those that follow the blocks of their product; may be null.
  Builder(const Workload& workload, const DeviceSpec& spec,
          const StagePlan& plan, const RollingRows* rows, Decider& decider,
          Replayer replayer)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        plan_(plan),
        rows_(rows),
        decider_(decider),
        replayer_(std::move(replayer)),
        decided_(plan.stages.size()) {}

  absl::StatusOr<Schedule> Run() {
    AskForStreaming();
    for (size_t stage = plan_.stages.size(); stage-- > 0;) {
      if (rows_ && rows_->stage == stage) {
        TW_RETURN_IF_ERROR(RollRows());
      } else {
        TW_RETURN_IF_ERROR(Write(stage));
      }
    }
    if (rows_) {
      TW_RETURN_IF_ERROR(CatchUp());
      TW_RETURN_IF_ERROR(replayer_.Finish());
    }
    Schedule schedule = std::move(writer_).Finish();
    schedule.tile_plan = Decided();
    return schedule;
  }

 private:
  // Returns the decisions by stage of the workload; those of a padded result
  // are the decisions of its padding.
  TilePlan Decided() const {
    std::map<TensorId, size_t> stage_of;  // of the plan
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      for (const TensorId member : plan_.stages[s].members)
        stage_of[member] = s;
    }
    TilePlan decided;
    decided.tile = plan_.tile;
    decided.steps = plan_.steps;
    decided.generated = true;
    std::vector<int> given(plan_.stages.size());  // of the workload
    for (size_t s = 0; s < workload_.stages.size(); ++s)
      given[stage_of.at(workload_.stages[s].back())] = static_cast<int>(s);
    for (const std::vector<TensorId>& stage : workload_.stages) {
      const size_t s = stage_of.at(stage.back());
      StageDecision one = decided_[s];
      one.held = plan_.stages[s].members.back() == stage.back();
      if (one.in_blocks_of >= 0) one.in_blocks_of = given[one.in_blocks_of];
      decided.stages.push_back(one);
    }
    return decided;
  }

  // A product that rows follow: the loop that it stands in, the loop over its
  // blocks, and the steps of a block.
  struct Product {
    Handle inside, blocks;
    int64_t steps;
  };

  // Outputs before the last are read again while they are in a cache.
  void AskForStreaming() {
    const TensorId output = plan_.stages.back().members.back();
    const Decider::Scope scope(decider_, graph_.tensor(output).name);
    streams_ = DecideStreaming(decider_, writer_, graph_, {output}, spec_,
                               FillsCaches(graph_, output, spec_));
  }

  absl::Status Write(size_t stage) {
    const bool product = rows_ && rows_->product_stage == stage;
    if (product) {
      WriteRollingInlines(workload_, *rows_, writer_);
      TW_RETURN_IF_ERROR(CatchUp());
    }
    const TensorId output = plan_.stages[stage].members.back();
    const Handle block = writer_.Block(WriterOf(output));
    const Decider::Scope scope(decider_, graph_.tensor(output).name);
    TW_ASSIGN_OR_RETURN(const Placed placed, PutInTask(stage, block));
    TW_ASSIGN_OR_RETURN(Workload part,
                        StageWorkload(workload_, plan_, stage, placed.layout));
    if (product) part = RollingPart(workload_, part, *rows_);
    ComputeLocation location = {
        writer_, decider_, placed.inside, {CutOf(output, part)}};
    location.far_inputs = FarInputs(part);
    location.streams = streams_ && stage + 1 == plan_.stages.size();
    if (plan_.steps && placed.held && placed.inside == loops_[0].loop) {
      TW_RETURN_IF_ERROR(CatchUp());
      // Lanes are computed together.
      const int lanes = FindContiguous(part, part.graph.outputs()[0]).dim;
      TW_ASSIGN_OR_RETURN(
          const std::optional<RolledDim> rolled,
          DecideRoll(block, placed.inside, lanes, replayer_, decider_));
      location.bounds.rolls.resize(location.bounds.cut.size());
      if (rolled) {
        writer_.Rolling(block, placed.inside);
        decided_[stage].rolls_along = rolled->dim;
        location.bounds.rolls[rolled->dim] = rolled->part;
      }
    }
    if (plan_.stages[stage].reduce_step > 0) {
      TW_ASSIGN_OR_RETURN(const int axis, BlockedAxis(workload_, part));
      location.blocks =
          ComputeLocation::ReduceBlocks{axis, plan_.stages[stage].reduce_step};
    }
    TW_ASSIGN_OR_RETURN(const WrittenStage written,
                        WriteStage(part, spec_, location));
    decided_[stage].family = written.family;
    const std::optional<Handle>& blocks = written.blocks;
    if (blocks) {
      loops_.push_back({graph_.tensor(output).name, *blocks});
      blocks_of_.push_back(static_cast<int>(stage));
      decided_[stage].reduce_axis = location.blocks->axis;
      decided_[stage].reduce_step = location.blocks->steps;
    }
    if (!product) return absl::OkStatus();
    if (!blocks)
      return absl::InvalidArgumentError(
          absl::StrCat(graph_.tensor(output).name,
                       " takes all its steps at once: nothing rolls"));
    product_ = Product{placed.inside, *blocks, location.blocks->steps};
    return absl::OkStatus();
  }

  struct Placed {
    Handle inside;  // the loop that it stands in
    Layout layout;  // of the part of it that is computed there
    bool held;      // in scratch
  };
  absl::StatusOr<Placed> PutInTask(size_t stage, Handle block) {
    const TensorId output = plan_.stages[stage].members.back();
    if (stage + 1 == plan_.stages.size()) {
      WriteTasks(output, block);
      TW_RETURN_IF_ERROR(CatchUp());
      return Placed{loops_[0].loop,
                    LayoutOfBox(workload_.LayoutOf(output), plan_.tile), false};
    }
    if (LeavesGroup(graph_, output)) {
      writer_.ComputeAt(block, loops_[0].loop);
      TW_RETURN_IF_ERROR(CatchUp());
      return Placed{
          loops_[0].loop,
          LayoutOfBox(workload_.LayoutOf(output), LoopExtents(output)), false};
    }
    TW_RETURN_IF_ERROR(CatchUp());
    TW_ASSIGN_OR_RETURN(
        const Handle inside,
        DecideLocation({workload_, plan_, stage, block, replayer_}, loops_,
                       decider_));
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i].loop == inside)
        decided_[stage].in_blocks_of = blocks_of_[i];
    }
    writer_.ComputeAt(block, inside);
    TW_RETURN_IF_ERROR(CatchUp());
    Layout layout = LayoutOfStage(replayer_.tree(), workload_, plan_, stage);
    decided_[stage].scratch_bytes =
        layout.physical_elements() * SizeBytes(graph_.tensor(output).dtype);
    writer_.SetLayout(graph_.tensor(output).name, layout.ToString());
    return Placed{inside, std::move(layout), true};
  }

  // The block that writes a tensor: of accumulators of another type, the copy
  // out of them.
  std::string WriterOf(TensorId tensor) {
    return PathToWriterOf(tensor).back().node().block->name;
  }

  Path PathToWriterOf(TensorId tensor) {
    BlockTree& tree = replayer_.tree();
    return FindWriter(tree, BufferOf(tree, graph_.tensor(tensor)).id);
  }

  // Extents of the loops over the axes of a stage's result that was just
  // placed.
  std::vector<int64_t> LoopExtents(TensorId output) {
    const Path path = PathToWriterOf(output);
    const Block& block = *path.back().node().block;
    const size_t first = path.size() - 1 - block.bindings.size();
    std::vector<int64_t> extents;
    for (size_t i = 0; i < block.axes.size(); ++i)
      extents.push_back(path[first + i].node().loop->extent);
    return extents;
  }

  std::vector<bool> CutOf(TensorId output, const Workload& part) const {
    const std::vector<int64_t> whole = graph_.tensor(output).static_shape(),
                               held = part.graph.tensor(part.graph.outputs()[0])
                                          .static_shape();
    std::vector<bool> cut;
    for (size_t i = 0; i < whole.size(); ++i) cut.push_back(held[i] < whole[i]);
    return cut;
  }

  // Of the stage; what other stages compute is near.
  std::set<std::string> FarInputs(const Workload& part) const {
    std::set<std::string> far;
    for (const Tensor& tensor : part.graph.tensors()) {
      const std::optional<TensorId> id = graph_.Find(tensor.name);
      if (id && graph_.tensor(*id).kind == TensorKind::kPlaceholder &&
          IsFar(tensor, spec_))
        far.insert(tensor.name);
    }
    return far;
  }

  void WriteTasks(TensorId output, Handle block) {
    const std::vector<int64_t> shape = graph_.tensor(output).static_shape();
    const std::vector<int64_t>& tile = plan_.tile;
    const std::optional<TaskSteps>& steps = plan_.steps;
    std::vector<Factors> tasks;
    std::vector<int64_t> extents = tile;  // of a task
    if (steps)
      extents[steps->axis] =
          std::min(shape[steps->axis], steps->tiles * tile[steps->axis]);
    for (size_t i = 0; i < shape.size(); ++i) {
      tasks.push_back(Factors{CeilDiv(shape[i], extents[i]), extents[i]});
    }
    Handle task = writer_.GroupTile({block}, tasks).back();
    if (steps) {
      const int axis = steps->axis;
      const auto loop = [&](int i) {
        return writer_.Loop(block, graph_.tensor(output).compute.axes[i].name);
      };
      task = writer_.Split(
          loop(axis),
          Factors{CeilDiv(extents[axis], tile[axis]), tile[axis]})[0];
      std::vector<Handle> order = {task};
      for (int i = 0; i < axis; ++i) order.push_back(loop(i));
      if (order.size() > 1) writer_.Reorder(order);
    }
    loops_ = {{"task", task}};
  }

  absl::Status RollRows() {
    const int64_t extent =
        graph_.tensor(rows_->product).compute.reduce_axes[0].extent.value();
    const Factors split = {CeilDiv(extent, product_->steps), product_->steps};
    const TensorId output = plan_.stages[rows_->stage].members.back();
    const Decider::Scope scope(decider_, graph_.tensor(output).name);
    StageDecision& decided = decided_[rows_->stage];
    decided.family = ComputeFamily::kRowReduction;
    decided.in_blocks_of = static_cast<int>(rows_->product_stage);
    decided.follows = true;
    return WriteRollingRows(
        workload_, *rows_,
        {writer_, decider_, replayer_, [this] { return CatchUp(); },
         product_->inside, product_->blocks, split, Lanes(graph_, spec_)});
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
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const StagePlan& plan_;
  const RollingRows* const rows_;
  Decider& decider_;
  Replayer replayer_;
  size_t replayed_ = 0;
  ScheduleWriter writer_;
  // That of a task, which all stages stand in, and in it or in each other those
  // over blocks of a stage's reduction.
  std::vector<TaskLoop> loops_;
  std::vector<int> blocks_of_ = {-1};   // by loop: whose
  std::vector<StageDecision> decided_;  // by stage of the plan
  std::optional<Product> product_;
  bool streams_ = false;  // the last output goes past the caches
};

absl::StatusOr<Schedule> WriteStages(const Workload& workload,
                                     const DeviceSpec& spec,
                                     const FusedWishes& wishes,
                                     Decider& decider) {
  TW_ASSIGN_OR_RETURN(StagePlan plan, WishedPlan(workload, wishes));
  plan = MovePaddings(workload.graph, std::move(plan));
  const int64_t wished = TasksOf(workload, spec, plan);
  TW_RETURN_IF_ERROR(DecideReduceSteps(workload, plan, decider));
  TW_RETURN_IF_ERROR(DecideTasks(workload, spec, wished, plan, decider));
  const std::optional<RollingRows> rows = FindRollingRows(workload, plan);
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (!rows || rows->stage != stage)
      DecideScratch(workload, stage, plan, decider);
  }
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  bool holds = false;
  if (rows) {
    Decider::Trial trial(decider);
    absl::StatusOr<Schedule> schedule =
        Builder(workload, spec, plan, &*rows, decider, replayer.Clone()).Run();
    holds = schedule.ok();
    if (DecideRolling(workload, plan, rows->stage, holds, decider)) {
      trial.Keep();
      return schedule;
    }
  }
  if (rows) {
    // The answer is as it was in the trial, and stands in the table now.
    DecideRolling(workload, plan, rows->stage, holds, decider);
    DecideScratch(workload, rows->stage, plan, decider);
  }
  return Builder(workload, spec, plan, nullptr, decider, std::move(replayer))
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

absl::StatusOr<Schedule> FusedSchedule(const Workload& workload,
                                       const DeviceSpec& spec,
                                       const FusedWishes& wishes) {
  return GeneratePreferred(FusedGenerator(wishes), workload, spec);
}

}  // namespace tilewright::sketch
