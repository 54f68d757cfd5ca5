#include "sketch/simt/lane_sums.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/ir/longest_axis.h"

namespace tilewright::sketch {
namespace {

// The block's loops in threads, then its lanes, then `own`, then its elements.
void ArrangeInLanes(ScheduleWriter& writer, Handle block,
                    const ThreadDivision& division,
                    const std::string& lane_axis, int64_t lanes,
                    const std::vector<Handle>& own) {
  const NestHandles nest =
      CutNest(writer, block, division, NestKind::kBesideLanes, lanes);
  const Handle lane = writer.Loop(block, lane_axis);
  writer.Bind(lane, "lane");
  std::vector<Handle> order = nest.threads;
  order.push_back(lane);
  order.insert(order.end(), own.begin(), own.end());
  order.insert(order.end(), nest.elements.begin(), nest.elements.end());
  ArrangeNest(writer, order, nest);
}

}  // namespace

void WriteLaneSums(GrowingTrace& trace, const std::string& name,
                   const ThreadDivision& division, int64_t lanes) {
  ScheduleWriter& writer = trace.writer();
  const Block block = *trace.FindBlockNamed(name);
  const size_t longest = LongestAxis(block.reduce_axes);
  const std::string axis = block.reduce_axes[longest].name;
  const int64_t terms = block.reduce_axes[longest].extent.value();
  const Handle handle = writer.Block(name);
  const std::vector<Handle> parts =
      writer.Split(writer.Loop(handle, axis), {CeilDiv(terms, lanes), lanes});
  // All loops that reduce outermost: the sums of all lanes are a nest of
  // their own.
  std::vector<Handle> order = parts;
  std::vector<Handle> rest;
  for (size_t r = 0; r < block.reduce_axes.size(); ++r) {
    if (r != longest)
      rest.push_back(writer.Loop(handle, block.reduce_axes[r].name));
  }
  order.insert(order.end(), rest.begin(), rest.end());
  for (const Axis& a : block.axes) order.push_back(writer.Loop(handle, a.name));
  writer.Reorder(order);
  const Handle partial = writer.RFactor(handle, parts[1]);
  if (!trace.status().ok()) return;
  const std::string lane_axis = absl::StrCat(axis, ".1");
  std::vector<Handle> own = {parts[0]};
  own.insert(own.end(), rest.begin(), rest.end());
  ArrangeInLanes(writer, partial, division, lane_axis, lanes, own);
  writer.SetLevel(partial, "registers");
  ArrangeInLanes(writer, handle, division, lane_axis, lanes, {});
}

}  // namespace tilewright::sketch
