#include "sketch/simt/step_loops.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "base/ceil_div.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/longest_axis.h"

namespace tilewright::sketch {
namespace {

// Neighbours of a slice stay neighbours, which its threads store in vectors.
void PutSlicesFirst(GrowingTrace& trace, const Buffer& partial) {
  const std::vector<int64_t>& shape = partial.layout.shape();
  std::vector<Layout::Digit> digits;
  for (size_t d = 0; d < shape.size(); ++d)
    digits.push_back({static_cast<int>(d), 1, shape[d]});
  std::rotate(digits.begin(), digits.end() - 1, digits.end());
  const std::vector<int64_t> none(shape.size(), 0);
  const absl::StatusOr<Layout> layout = Layout::Create(
      shape, none, none, std::move(digits), Layout::Fill::kUndefined);
  if (layout.ok()) trace.writer().SetLayout(partial.name, layout->ToString());
}

const Block& WriterOf(const BlockTree& tree, int buffer) {
  const std::vector<const Block*> blocks = AllBlocks(tree);
  return **std::find_if(blocks.begin(), blocks.end(), [&](const Block* block) {
    return std::count(block->dst.begin(), block->dst.end(), buffer) > 0;
  });
}

StepLoops CutSlices(GrowingTrace& trace, const Block& block, size_t longest,
                    int64_t step, int64_t slices) {
  ScheduleWriter& writer = trace.writer();
  const Handle sum = writer.Block(block.name);
  const std::string& axis = block.reduce_axes[longest].name;
  const int64_t terms = block.reduce_axes[longest].extent.value();
  const std::vector<Handle> parts = writer.Split(
      writer.Loop(sum, axis), {terms / step, slices, step / slices});
  // All loops that reduce outermost: the sum of all slices is a nest of its
  // own.
  std::vector<Handle> order = parts;
  std::vector<TermLoop> others;
  for (size_t r = 0; r < block.reduce_axes.size(); ++r) {
    if (r == longest) continue;
    order.push_back(writer.Loop(sum, block.reduce_axes[r].name));
    others.push_back({order.back(), block.reduce_axes[r].extent.value(),
                      static_cast<int>(block.axes.size() + 1 + others.size())});
  }
  for (const Axis& a : block.axes) order.push_back(writer.Loop(sum, a.name));
  writer.Reorder(order);
  writer.RFactor(sum, parts[1]);
  StepLoops loops;
  if (!trace.status().ok()) return loops;
  const int held = trace.FindBlockNamed(block.name)->body[0].source();
  const Block& partial = WriterOf(trace.tree(), held);
  loops.block = partial.name;
  loops.slice_axis = partial.axes.back().name;
  loops.step = parts[0];
  // Behind the other axes stand those of steps and of terms.
  loops.terms = {
      {parts[2], step / slices,
       static_cast<int>(partial.axes.size() + partial.reduce_axes.size() - 1)}};
  loops.terms.insert(loops.terms.end(), others.begin(), others.end());
  PutSlicesFirst(trace, trace.tree().buffers[held]);
  return loops;
}

}  // namespace

bool TermsCanBeShared(const Block& block) {
  return block.combiner && block.dst.size() == 1 &&
         block.combiner->associative() && block.combiner->commutative() &&
         !block.LeavesStepsOut() && !block.rescaling;
}

StepLoops CutSteps(GrowingTrace& trace, const std::string& name, int64_t step,
                   int64_t slices) {
  const Block block = *trace.FindBlockNamed(name);
  const size_t longest = LongestAxis(block.reduce_axes);
  const int64_t terms = block.reduce_axes[longest].extent.value();
  step = step > 0 ? std::min(step, terms) : terms;
  if (slices > 1) return CutSlices(trace, block, longest, step, slices);
  ScheduleWriter& writer = trace.writer();
  const Handle handle = writer.Block(name);
  const auto ordinal = [&](size_t r) {
    return static_cast<int>(block.axes.size() + r);
  };
  const std::vector<Handle> parts =
      writer.Split(writer.Loop(handle, block.reduce_axes[longest].name),
                   {CeilDiv(terms, step), step});
  StepLoops loops;
  loops.block = name;
  loops.step = parts[0];
  loops.terms = {{parts[1], step, ordinal(longest)}};
  for (size_t r = 0; r < block.reduce_axes.size(); ++r) {
    if (r != longest)
      loops.terms.push_back({writer.Loop(handle, block.reduce_axes[r].name),
                             block.reduce_axes[r].extent.value(), ordinal(r)});
  }
  return loops;
}

ThreadDivision InSlices(ThreadDivision division, const std::string& axis,
                        int64_t slices) {
  division.axes.insert(division.axes.begin(), axis);
  division.extents.insert(division.extents.begin(), slices);
  division.threads.insert(division.threads.begin(), slices);
  return division;
}

void WriteSumOfSlices(ScheduleWriter& writer, const std::string& name,
                      const ThreadDivision& division, const std::string& axis) {
  const Handle handle = writer.Block(name);
  const NestHandles nest =
      CutNest(writer, handle, division, NestKind::kThreads);
  // Outside of the threads' loops, as steps are: what is inside covers the
  // tile.
  std::vector<Handle> order = {writer.Loop(handle, axis)};
  order.insert(order.end(), nest.threads.begin(), nest.threads.end());
  order.insert(order.end(), nest.elements.begin(), nest.elements.end());
  ArrangeNest(writer, order, nest);
}

}  // namespace tilewright::sketch
