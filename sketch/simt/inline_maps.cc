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

std::vector<const Block*> ReadersOf(const BlockTree& tree, int buffer) {
  std::vector<const Block*> readers;
  for (const Block* block : AllBlocks(tree)) {
    const std::vector<int> loaded = LoadedBuffers(*block);
    if (std::find(loaded.begin(), loaded.end(), buffer) != loaded.end())
      readers.push_back(block);
  }
  return readers;
}

bool IsStagedPadding(GrowingTrace& trace, const TensorGraph& graph,
                     const Block& map, const Block& reader) {
  const Buffer& buffer = trace.tree().buffers[map.dst[0]];
  if (!reader.combiner || reader.dst.size() != 1 || buffer.tensor < 0 ||
      !AsZeroPadding(graph, buffer.tensor))
    return false;
  return IsReused(reader, map.dst[0]);
}

}  // namespace

std::map<std::string, std::string> InlineMaps(GrowingTrace& trace,
                                              const TensorGraph& graph) {
  std::vector<std::string> maps;
  for (const Block* block : AllBlocks(trace.tree())) {
    const bool is_output =
        std::any_of(block->dst.begin(), block->dst.end(), [&](int id) {
          return trace.tree().buffers[id].level == MemLevel::kGlobal;
        });
    if (!block->combiner && !is_output) maps.push_back(block->name);
  }
  std::map<std::string, std::string> paddings;
  for (const std::string& name : maps) {
    const Block* map = trace.FindBlockNamed(name);
    const std::vector<const Block*> readers =
        ReadersOf(trace.tree(), map->dst[0]);
    if (readers.size() != 1) continue;
    if (paddings.count(readers[0]->name) == 0 &&
        IsStagedPadding(trace, graph, *map, *readers[0])) {
      paddings[readers[0]->name] = name;
    } else {
      trace.Try([&](ScheduleWriter& w) { w.ComputeInline(w.Block(name)); });
    }
  }
  return paddings;
}

}  // namespace tilewright::sketch
