#include "costmodel/features/buffer_reuse.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tilegraph/expr/dtype.h"

namespace tilewright::costmodel {

BufferReuse::BufferReuse(const sketch::BlockTree& tree,
                         const std::vector<Statement>& statements)
    : loops_(tree.num_vars), common_loops_(tree.buffers.size(), -1) {
  std::vector<const Statement*> first_user(tree.buffers.size());
  for (const Statement& statement : statements) {
    const auto loops = static_cast<int>(statement.loops.size());
    for (const BufferAccess& access : statement.accesses) {
      const auto bytes =
          static_cast<double>(SizeBytes(tree.buffers[access.buffer].dtype));
      for (int i = 0; i < loops; ++i) {
        LoopUse& use = loops_[statement.loops[i]->var];
        use.bytes_of_all += bytes * access.touched[i];
        use.bytes_of_step += bytes * access.touched[i + 1];
        const auto entry = std::find_if(
            use.blocks.begin(), use.blocks.end(),
            [&](const auto& block) { return block.first == access.buffer; });
        if (entry == use.blocks.end()) {
          use.blocks.emplace_back(access.buffer, 1);
        } else {
          ++entry->second;
        }
      }
      int& common = common_loops_[access.buffer];
      if (common < 0) {
        first_user[access.buffer] = &statement;
        common = loops;
        continue;
      }
      const auto& other = first_user[access.buffer]->loops;
      int shared = 0;
      while (shared < std::min(common, loops) &&
             other[shared] == statement.loops[shared]) {
        ++shared;
      }
      common = shared;
    }
  }
}

Reuse BufferReuse::Of(const Statement& statement,
                      const BufferAccess& access) const {
  double steps = 1;  // of the loops further in
  for (int i = static_cast<int>(statement.loops.size()) - 1; i >= 0; --i) {
    const sketch::Loop& loop = *statement.loops[i];
    const auto extent = static_cast<double>(loop.extent);
    const LoopUse& use = loops_[loop.var];
    if (loop.extent > 1 && (access.moving_loops >> i & 1) == 0) {
      return {Reuse::Kind::kLoop, steps, use.bytes_of_step, extent};
    }
    const auto entry = std::find_if(
        use.blocks.begin(), use.blocks.end(),
        [&](const auto& block) { return block.first == access.buffer; });
    if (entry->second > 1) {
      return {Reuse::Kind::kStatement, steps, use.bytes_of_all / extent,
              static_cast<double>(entry->second - 1)};
    }
    steps *= extent;
  }
  return {};
}

}  // namespace tilewright::costmodel
