// The block tree: what replaying a schedule builds and transforms, instruction
// by instruction, with no deferred bound inference.
//
// A tree is a sequence of loops and blocks. A block is one compute (or a copy
// made by cache_read / cache_write) with its axes bound to expressions of the
// loops around it. Reductions have no explicit init here: lowering places it
// right before the outermost loop that carries a reduce axis of the block;
// consumers may stand only after that loop (VerifyBlockTree). Predicates that
// speak of reduce loops skip steps; they never keep an element from being
// initialised.
#ifndef TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_H_
#define TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sketch/trace/rolled_part.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/row_swizzle.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

enum class MemLevel : uint8_t { kGlobal, kScratch, kRegisters };

// Where a tensor, or the part of it that one enclosing tile needs, is kept.
struct Buffer {
  int id;  // index in BlockTree::buffers
  std::string name;
  TensorId tensor;  // of the workload's graph; -1 for further components of a
                    // tuple reduction, and what is no tensor there
  DType dtype;
  MemLevel level;
  std::vector<Expr> origin;  // element `index` of the tensor is at index -
                             // origin; over loop variables; all 0 for kGlobal
  Layout layout;  // of the local extent; its shape is the logical extent held
  // Whether stores of an output go past the caches; unset: lowering decides.
  std::optional<bool> streamed = {};
  // m: of a constant, the filters that F(m, 3) takes for it, as
  // WinogradFilters makes them (tilegraph/rewrite/winograd.h); 0: the tensor
  // itself.
  int winograd = 0;
  RowSwizzle swizzle = {};  // of scratch
};

enum class LoopKind : uint8_t {
  kSerial,
  kTask,  // made by group_tile only; outermost; iterations run in any order, on
          // any thread
  kUnroll,
  kTile,  // an axis of the tile of the one block below; only kTile loops and
          // that block stand inside
  kThread,   // the threads of a block share the iterations (thread_loops.h)
  kWarp,     // likewise, a warp each
  kLane,     // likewise, a lane of each warp
  kVthread,  // each thread runs all iterations, side by side: kUnroll
};

struct Node;
using NodePtr = std::unique_ptr<Node>;

// Annotations that answer for lowering where it could decide itself.
struct LoopHints {
  int unroll = 0;     // copies of the body in a row; 0: lowering decides
  int prefetch = -1;  // steps of the loop that an update, or a map in memory,
                      // brings what it reads closer ahead of its use, 0: none;
                      // -1: lowering decides (maps: none)
  int stages = 1;     // 2: threads load what a step copies into scratch while
                      // the step before computes
  int buffers = 1;    // so many steps' copies lie in scratch at a time: threads
                      // copy, asynchronously where they can, for all of them
                      // but the last while that computes
};

struct Loop {
  int var;  // unique in the tree
  std::string name;
  int64_t extent;
  LoopKind kind = LoopKind::kSerial;
  LoopHints hints = {};
  std::vector<NodePtr> body;
};

// A block that is computed in every iteration of a serial loop, for regions
// that overlap: what the iteration before has computed stays in its buffers,
// which hold just one region's elements at a time (Layout::Rolling).
struct Rolling {
  int loop_var;  // the first iteration computes all of its region
  int dim;       // the spatial axis along which regions follow each other
  Expr from;     // over loop variables: what later iterations begin with
  RolledPart part;
};

struct Block {
  std::string name;
  std::vector<Axis> axes;  // spatial
  std::vector<Axis> reduce_axes;
  std::optional<Combiner> combiner;
  std::vector<Expr> body;  // over Var(axis ordinal); Load sources are buffer
                           // ids, indices logical (before `origin`)
  Expr guard;  // bool over Var(axis ordinal), without loads; may be empty. Of a
               // reduction: steps where it is false combine nothing (rfactor)
  Expr nonzero;  // likewise, of a sum: where it is false, a known zero is
                 // multiplied, and the step is left out (skip_zeros)
  std::vector<Expr> bindings;  // axis ordinal -> expression over loop variables
  std::vector<Expr> predicates;  // over loop variables, all must hold: tails
                                 // and clipped regions
  std::vector<int>
      dst;  // buffer per component; element [axes] (logical, before `origin`)
  std::vector<Expr> dst_index;  // logical index in dst, over Var(axis ordinal);
                                // usually the spatial axes
  int result = 0;               // the component that is the tensor
  std::string intrinsic;        // set by tensorize
  std::optional<Rolling> rolling;
  // The value that the result so far of a reduction with one component takes
  // before each step, over the axes; it loads dst itself at the element's own
  // place. Empty: it stays.
  Expr rescaling;
  // A buffer that the block reads inside a loop that still reduces into it, as
  // far as that has come (rolling_update); -1: none.
  int running = -1;

  bool LeavesStepsOut() const { return guard || nonzero; }
  // Bool over loop variables: whether a rolling block computes what its
  // bindings say, or has done so before. Empty: it does not roll.
  Expr RollingCondition() const;
};

// Exactly one of the two.
struct Node {
  std::optional<Loop> loop;
  std::optional<Block> block;
};

struct BlockTree {
  std::vector<Buffer> buffers;
  std::vector<NodePtr> roots;
  int num_vars = 0;

  BlockTree Clone() const;
  // Indented listing, for inspect and messages.
  std::string ToString() const;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_H_
