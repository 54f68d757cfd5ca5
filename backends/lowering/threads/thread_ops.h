// The operations of a tile kernel with the nests of thread loops that they
// stand in. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_OPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_OPS_H_

#include <map>
#include <set>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/threads/thread_owner.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

struct ThreadOp {
  kernel_ir::TileOp* op = nullptr;
  ThreadNest nest;       // empty: the first thread does it
  std::set<int> inside;  // variables of the nest, of loops in it and the box
  // The ranges that branches of the nest around it leave to single variables.
  std::map<int, Range> within;
  std::vector<Expr> conditions;  // their other conditions

  // Which nest it is; -1: none.
  int nest_number() const { return nest.empty() ? -1 : nest[0]->place.nest; }
};

// All operations of a kernel, in order. Pointers are into `stmts`.
std::vector<ThreadOp> ThreadOps(std::vector<kernel_ir::Stmt>& stmts);

struct BufferAccess {
  int buffer;
  bool is_store;  // an update has an access of each kind
  std::vector<Expr> index;
};
std::vector<BufferAccess> AccessesOf(const kernel_ir::TileOp& op);

// Whether a thread loop stands in it, or is it.
bool HoldsThreads(const kernel_ir::Stmt& stmt);
bool IsThreadLoop(const kernel_ir::Stmt& stmt);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_OPS_H_
