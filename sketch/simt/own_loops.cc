#include "sketch/simt/own_loops.h"

#include <cstddef>

#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

std::vector<LoopAround> OwnLoops(GrowingTrace& trace,
                                 const std::string& block) {
  const Block* found = trace.FindBlockNamed(block);
  std::vector<LoopAround> loops = trace.LoopsOf(block);
  const size_t own = found->axes.size() + found->reduce_axes.size();
  loops.erase(loops.begin(), loops.end() - static_cast<std::ptrdiff_t>(own));
  return loops;
}

}  // namespace tilewright::sketch
