#include "sketch/simt/lane_sums.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/trace/schedule.h"

namespace tilewright::sketch {

size_t LongestReduction(const Block& block) {
  return std::max_element(block.reduce_axes.begin(), block.reduce_axes.end(),
                          [](const Axis& a, const Axis& b) {
                            return a.extent.value() < b.extent.value();
                          }) -
         block.reduce_axes.begin();
}

void WriteLaneSums(GrowingTrace& trace, const std::string& name,
                   const ThreadDivision& division, int64_t lanes) {
  ScheduleWriter& writer = trace.writer();
  const Block block = *trace.FindBlockNamed(name);
  const size_t longest = LongestReduction(block);
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
  const NestHandles own =
      CutNest(writer, partial, division, NestKind::kBesideLanes, lanes);
  const Handle lane = writer.Loop(partial, lane_axis);
  writer.Bind(lane, "lane");
  order = own.threads;
  order.push_back(lane);
  order.push_back(parts[0]);
  order.insert(order.end(), rest.begin(), rest.end());
  order.insert(order.end(), own.elements.begin(), own.elements.end());
  ArrangeNest(writer, order, own);
  writer.SetLevel(partial, "registers");

  const NestHandles all =
      CutNest(writer, handle, division, NestKind::kBesideLanes, lanes);
  const Handle combined = writer.Loop(handle, lane_axis);
  writer.Bind(combined, "lane");
  order = all.threads;
  order.push_back(combined);
  order.insert(order.end(), all.elements.begin(), all.elements.end());
  ArrangeNest(writer, order, all);
}

}  // namespace tilewright::sketch
