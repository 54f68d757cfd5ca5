#include "sketch/simt/inline_maps.h"

#include <algorithm>
#include <vector>

#include "sketch/simt/reused_operands.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/analysis/access.h"

namespace tilewright::sketch {
namespace {

// Whether sums read the map's elements again and again, and it is more than
// another place for them.
bool IsComputedAgain(GrowingTrace& trace, const TensorGraph& graph,
                     const Block& map, const Block& reader) {
  if (!reader.combiner || reader.dst.size() != 1 ||
      !IsReused(reader, map.dst[0]))
    return false;
  const Buffer& buffer = trace.tree().buffers[map.dst[0]];
  return map.body[0].op() != Op::kLoad ||
         (buffer.tensor >= 0 && AsZeroPadding(graph, buffer.tensor));
}

// Whether it reads what lies in memory alone, none of which its reader or
// another map in `staged` copies too.
bool IsOfOperands(GrowingTrace& trace, const Block& map, const Block& reader,
                  const std::vector<std::string>& staged) {
  const std::vector<int> operands = LoadedBuffers(map);
  std::vector<int> taken = LoadedBuffers(reader);
  for (const std::string& name : staged) {
    const std::vector<int> more = LoadedBuffers(*trace.FindBlockNamed(name));
    taken.insert(taken.end(), more.begin(), more.end());
  }
  return !operands.empty() &&
         std::all_of(operands.begin(), operands.end(), [&](int id) {
           return trace.tree().buffers[id].level == MemLevel::kGlobal &&
                  std::find(taken.begin(), taken.end(), id) == taken.end();
         });
}

}  // namespace

std::map<std::string, std::vector<std::string>> InlineMaps(
    GrowingTrace& trace, const TensorGraph& graph) {
  std::vector<std::string> maps;
  for (const Block* block : AllBlocks(trace.tree())) {
    const bool is_output =
        std::any_of(block->dst.begin(), block->dst.end(), [&](int id) {
          return trace.tree().buffers[id].level == MemLevel::kGlobal;
        });
    if (!block->combiner && !is_output) maps.push_back(block->name);
  }
  std::map<std::string, std::vector<std::string>> with_operands;
  for (const std::string& name : maps) {
    const Block* map = trace.FindBlockNamed(name);
    const std::vector<const Block*> readers =
        ReadersOf(trace.tree(), map->dst[0]);
    if (readers.size() != 1) continue;
    const std::string reader = readers[0]->name;
    const bool again = IsComputedAgain(trace, graph, *map, *readers[0]);
    const std::vector<int> operands = LoadedBuffers(*map);
    const bool of_group =
        std::any_of(operands.begin(), operands.end(), [&](int id) {
          return trace.tree().buffers[id].level != MemLevel::kGlobal;
        });
    if (again && of_group) continue;
    if (again &&
        IsOfOperands(trace, *map, *readers[0], with_operands[reader])) {
      with_operands[reader].push_back(name);
    } else {
      trace.Try([&](ScheduleWriter& w) { w.ComputeInline(w.Block(name)); });
    }
  }
  return with_operands;
}

}  // namespace tilewright::sketch
