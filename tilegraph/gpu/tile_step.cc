#include "tilegraph/gpu/tile_step.h"

#include <algorithm>
#include <cstddef>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

TileStep::Member MemberOf(const TensorGraph& graph, const GpuMember& of,
                          const TileWork& work, int64_t step,
                          int64_t sector_bytes) {
  const Tensor& tensor = graph.tensor(of.id);
  TileStep::Member member;
  ThreadWork& threads = member.threads;
  threads.extents = TileOf(work, of.id).extents;
  threads.element_bytes = SizeBytes(tensor.dtype);
  threads.sector_bytes = sector_bytes;
  for (const GpuLoad& load : of.loads) threads.loads.push_back(load.dims);
  member.axes = threads.extents;
  const std::vector<Axis>& reduced = tensor.compute.reduce_axes;
  for (size_t axis = 0; axis < reduced.size(); ++axis) {
    int64_t extent = reduced[axis].extent.value();
    if (static_cast<int>(axis) == of.stepped_axis && step > 0 &&
        step < extent) {
      member.steps = CeilDiv(extent, step);
      extent = step;
    }
    member.axes.push_back(extent);
    threads.terms *= extent;
  }
  return member;
}

TileStep::Input InputOf(const GpuPart& part, const GpuInput& staged,
                        const std::vector<TileStep::Member>& members,
                        const std::vector<int64_t>& whole) {
  TileStep::Input input;
  input.extents = whole;
  if (staged.stepped_by < 0) return input;
  const TileStep::Member& reader =
      members[static_cast<size_t>(staged.stepped_by)];
  input.steps = reader.steps;
  if (input.steps <= 1) return input;
  input.extents.assign(whole.size(), 1);
  for (const GpuLoad& load :
       part.members[static_cast<size_t>(staged.stepped_by)].loads) {
    if (load.tensor != staged.id) continue;
    const std::vector<int64_t> box = ExtentsOf(load, reader.axes);
    for (size_t d = 0; d < box.size(); ++d)
      input.extents[d] = std::max(input.extents[d], box[d]);
  }
  return input;
}

}  // namespace

const TileOperand& TileOf(const TileWork& work, TensorId member) {
  for (const auto* list : {&work.inside, &work.outputs}) {
    for (const TileOperand& operand : *list)
      if (operand.tensor == member) return operand;
  }
  return work.outputs.back();
}

TileStep StepOf(const TensorGraph& graph, const GpuPart& part,
                const TileWork& work, int64_t step, int64_t sector_bytes) {
  TileStep result;
  for (const GpuMember& member : part.members)
    result.members.push_back(MemberOf(graph, member, work, step, sector_bytes));
  for (size_t i = 0; i < part.inputs.size(); ++i)
    result.inputs.push_back(
        InputOf(part, part.inputs[i], result.members, work.inputs[i].extents));
  return result;
}

}  // namespace tilewright
