#include "sketch/fused/stage_locations.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "sketch/fused/stage_workload.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/scratch_layout.h"

namespace tilewright::sketch {
namespace {

// How many elements the reductions of a stage have, or else its output, if it
// is computed in that loop; nullopt: it cannot be.
absl::StatusOr<std::optional<std::vector<int64_t>>> ElementsIn(
    const StageToLocate& stage, Handle loop) {
  Replayer trial = stage.replayer.Clone();
  const Instruction compute_at = {
      Primitive::kComputeAt, {stage.block, loop}, {}, "", {}};
  if (!trial.Apply(compute_at).ok()) return std::nullopt;
  TW_ASSIGN_OR_RETURN(const Workload part,
                      StageWorkload(stage.workload, stage.plan, stage.stage,
                                    LayoutOfStage(trial.tree(), stage.workload,
                                                  stage.plan, stage.stage)));
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

}  // namespace

const Buffer& BufferOf(const BlockTree& tree, const Tensor& tensor) {
  const auto buffer =
      std::find_if(tree.buffers.begin(), tree.buffers.end(),
                   [&](const Buffer& b) { return b.name == tensor.name; });
  TW_CHECK(buffer != tree.buffers.end()) << tensor.name;
  return *buffer;
}

Layout LayoutOfStage(const BlockTree& tree, const Workload& workload,
                     const StagePlan& plan, size_t stage) {
  const Buffer& buffer =
      BufferOf(tree, workload.graph.tensor(plan.stages[stage].members.back()));
  return LayoutInScratch(plan.stages[stage].layout, buffer.layout.shape(),
                         SizeBytes(buffer.dtype));
}

absl::StatusOr<Handle> DecideLocation(const StageToLocate& stage,
                                      const std::vector<TaskLoop>& loops,
                                      Decider& decider) {
  if (loops.size() == 1) return loops[0].loop;
  TW_ASSIGN_OR_RETURN(const auto whole, ElementsIn(stage, loops[0].loop));
  std::vector<std::string> options = {loops[0].name};
  std::vector<Handle> handles = {loops[0].loop};
  int64_t preferred = 0;
  for (size_t i = 1; i < loops.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const auto part, ElementsIn(stage, loops[i].loop));
    if (!part) continue;
    if (whole && std::equal(part->begin(), part->end(), whole->begin(),
                            whole->end(), std::less<>()))
      preferred = static_cast<int64_t>(options.size());
    options.push_back(loops[i].name);
    handles.push_back(loops[i].loop);
  }
  // Families choose lanes and partial sums by extents.
  return handles[decider.DecideNumber(
      "at", Space::OneOf(std::move(options)), [&] { return preferred; },
      Bits::kMayChange)];
}

absl::StatusOr<std::optional<RolledDim>> DecideRoll(Handle block, Handle loop,
                                                    int lanes,
                                                    const Replayer& replayer,
                                                    Decider& decider) {
  Replayer trial = replayer.Clone();
  const Instruction rolling = {Primitive::kRolling, {block, loop}, {}, "", {}};
  std::optional<RolledDim> rolled;
  if (trial.Apply(rolling).ok()) {
    TW_ASSIGN_OR_RETURN(const Path path, trial.FindBlockOf(block));
    const Rolling& rolling = *path.back().node().block->rolling;
    rolled = RolledDim{rolling.dim, rolling.part};
  }
  const bool holds = rolled && rolled->dim != lanes;
  std::vector<std::string> options = {"no"};
  if (holds) options.emplace_back("yes");
  const int64_t answer = decider.DecideNumber(
      "roll", Space::OneOf(std::move(options)), [&] { return holds ? 1 : 0; },
      Bits::kMayChange);
  return answer == 1 ? rolled : std::nullopt;
}

}  // namespace tilewright::sketch
