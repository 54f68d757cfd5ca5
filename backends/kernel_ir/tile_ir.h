// Kernel IR, tile tier: loops over tiles and operations on whole tiles. It
// knows buffers, layouts and tails; it knows no vector width, no register and
// no instruction. Replaying a schedule yields this tier and nothing else does
// (backends/lowering/tile:lower).
//
// All extents are constants: lowering has partitioned loops so that interior
// tiles carry no predicate and edge tiles are smaller boxes, wherever that is
// possible.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_TILE_IR_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_TILE_IR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/row_swizzle.h"

namespace tilewright::kernel_ir {

enum class Level : uint8_t { kGlobal, kScratch, kRegisters };
enum class Role : uint8_t { kInput, kConstant, kOutput, kLocal };
const char* RoleName(Role role);  // "input", "constant", "output", "local"

// A global buffer is an argument of the kernel, in order of id. Locals live per
// task; the contents of scratch and registers are undefined until written.
struct Buffer {
  int id;  // index in Kernel::buffers
  std::string name;
  DType dtype;
  Level level;
  Role role;
  Layout layout;                      // shape = logical extents held here
  std::optional<bool> streamed = {};  // of an output: whether stores go past
                                      // the caches; unset: its size decides
  RowSwizzle swizzle = {};  // of scratch: where the backend puts what is held;
                            // indices stay logical
  // Of scratch: as many parts that steps of a loop use in turn, told apart by
  // the first index.
  int64_t versions = 1;
};

struct Stmt;

// for var in [0, extent)
struct For {
  enum class Kind : uint8_t { kSerial, kTask, kUnroll, kThread };
  int var;
  std::string name;
  int64_t extent;
  Kind kind = Kind::kSerial;  // kTask loops are the outermost, perfectly nested
  std::vector<Stmt> body;
  // Requests of the schedule (sketch/tree/block_tree.h: LoopHints).
  struct Hints {
    int unroll = 0;
    int prefetch = -1;
    int stages = 1;
    int buffers = 1;
  };
  Hints hints = {};
  // Of loops over steps that use versions of buffers in turn: threads wait for
  // each other once before each, and copy into the version of the step before.
  // `ahead`: the loop that copies for the first steps. `async`: copies of an
  // iteration (TileOp::async) make a group, and before a step threads wait
  // until all groups but the last `versions` - 2 have come.
  struct Turns {
    int64_t versions = 1;
    bool ahead = false;
    bool async = false;
  };
  Turns turns = {};
  // Where kThread loops run: iteration i on the threads n of a block with n /
  // stride mod wraps = i; wraps 0: n / stride = i. All loops of a nest stand
  // around each of its operations; between nests all threads have done what
  // stands before.
  struct Place {
    int64_t stride = 1;
    int64_t wraps = 0;
    // The loop holds nothing but an update of one component at an index that it
    // does not move: the terms of its iterations, a power of two, are combined
    // in pairs of neighbours, then pairs of those, and what is left at last
    // with the accumulator. Terms that the predicate leaves out are the
    // combiner's identity.
    bool combines = false;
    int nest = -1;  // equal for what was one nest before loops were cut
  };
  Place place = {};
};

struct If {
  Expr condition;  // bool, over loop variables
  std::vector<Stmt> then_body;
  std::vector<Stmt> else_body;
};

// One axis of a tile: var in [0, extent).
struct TileAxis {
  int var;
  std::string name;
  int64_t extent;
};

// One operation over a box of elements, each element independent of the others
// (reductions loop around it):
//   kInit:   dst[i][index] = identity component i
//   kUpdate: dst[*][index] = combine(dst[*][index], body)
//   kMap:    dst[0][index] = body[0] rounded to the buffer's dtype (load_tile,
//   store_tile, and all elementwise work)
// Where `predicate` is set and false, nothing happens to that element. Loads in
// `body` have buffer ids as sources and logical indices of the buffer (its
// origin already subtracted), over loop and box variables.
struct TileOp {
  enum class Phase : uint8_t { kInit, kUpdate, kMap };
  Phase phase;
  std::string intrinsic;  // "", or a declared intrinsic whose semantics this
                          // operation matches
  std::vector<TileAxis> box;
  std::vector<int> dst;     // buffer ids, one per component
  std::vector<Expr> index;  // logical index in every dst
  std::optional<Combiner> combiner;
  std::vector<Expr> body;  // empty for kInit
  Expr predicate;          // may be empty
  bool async = false;      // a copy that need not have come before threads wait
};

struct Stmt {
  std::variant<For, If, TileOp> node;
};

struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Stmt> body;
  int num_vars = 0;  // variables are 0 .. num_vars-1, each defined by one For
                     // or one TileAxis
  int threads = 0;   // of the block that is a task; 0: there is no kThread loop

  // Product of the kTask extents: the number of tasks, 1 if there is no such
  // loop.
  int64_t num_tasks() const;
  std::string ToString() const;
};

// Ok, or Internal with the statement: a variable out of scope, a dtype that
// does not fit, an index that can leave its buffer (halo included) with no
// predicate or select guarding it, a kTask loop that is not outermost, a box or
// dst of the wrong rank, a local read before any write.
absl::Status VerifyTileKernel(const Kernel& kernel);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_TILE_IR_H_
