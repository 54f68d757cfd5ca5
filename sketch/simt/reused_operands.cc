#include "sketch/simt/reused_operands.h"

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

}  // namespace tilewright::sketch
