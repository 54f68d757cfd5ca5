// When a block touches elements again, and what is touched in between (Ansor,
// appendix B). Internal to costmodel/features.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_BUFFER_REUSE_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_BUFFER_REUSE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "costmodel/features/statements.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::costmodel {

struct Reuse {
  enum class Kind : uint8_t {
    kLoop,       // the steps of a loop that does not move the access
    kStatement,  // another block, in one of its loops
    kNone,
  };
  Kind kind = Kind::kNone;
  // The block's steps between two touches of an element, and the distinct bytes
  // that all blocks touch meanwhile; how often it is touched again.
  double distance_steps = 0, distance_bytes = 0, count = 0;
};

class BufferReuse {
 public:
  // `statements`: of `tree`, in order; both must outlive this.
  BufferReuse(const sketch::BlockTree& tree,
              const std::vector<Statement>& statements);

  // From the block's innermost loop outwards, the first reuse there is.
  Reuse Of(const Statement& statement, const BufferAccess& access) const;
  // Loops of the statement, from the outermost, that all blocks touching the
  // buffer share.
  int CommonLoops(int buffer) const { return common_loops_[buffer]; }

 private:
  struct LoopUse {
    double bytes_of_step = 0, bytes_of_all = 0;
    std::vector<std::pair<int, int>> blocks;  // buffer, blocks that touch it
  };
  std::vector<LoopUse> loops_;     // by variable
  std::vector<int> common_loops_;  // by buffer
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_BUFFER_REUSE_H_
