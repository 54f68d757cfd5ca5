#include "sketch/simt/reused_operands.h"

#include <algorithm>
#include <cstddef>

#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {

bool IsReused(const Block& block, int buffer) {
  bool reused = false;
  for (const Expr& body : block.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.source() != buffer) return;
      for (size_t d = 0; d < block.axes.size(); ++d)
        reused |= block.axes[d].extent.value() > 1 &&
                  !Mentions(e, static_cast<int>(d));
    });
  }
  return reused;
}

std::vector<std::string> ReusedOperands(const BlockTree& tree,
                                        const Block& block) {
  std::vector<std::string> names;
  for (const int id : LoadedBuffers(block)) {
    const Buffer& buffer = tree.buffers[id];
    if (buffer.level == MemLevel::kGlobal && IsReused(block, id))
      names.push_back(buffer.name);
  }
  return names;
}

std::vector<const Block*> ReadersOf(const BlockTree& tree, int buffer) {
  std::vector<const Block*> readers;
  for (const Block* block : AllBlocks(tree)) {
    const std::vector<int> loaded = LoadedBuffers(*block);
    if (std::find(loaded.begin(), loaded.end(), buffer) != loaded.end())
      readers.push_back(block);
  }
  return readers;
}

bool IsElementwiseIn(const Block& block, int buffer) {
  bool elementwise = !block.combiner.has_value();
  for (const Expr& body : block.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.source() != buffer) return;
      const int rank = static_cast<int>(block.axes.size());
      elementwise =
          elementwise && static_cast<int>(e.operands().size()) == rank;
      for (int d = 0; elementwise && d < rank; ++d)
        elementwise =
            e.operand(d).op() == Op::kVar && e.operand(d).var_id() == d;
    });
  }
  return elementwise;
}

}  // namespace tilewright::sketch
