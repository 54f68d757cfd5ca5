// Finding and changing places in a block tree: what the primitives of replay
// are written with. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_TREE_TREE_EDIT_H_
#define TILEWRIGHT_SKETCH_TREE_TREE_EDIT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {

// One node by the list that owns it and its index there.
struct Position {
  std::vector<NodePtr>* siblings;
  size_t index;

  Node& node() const { return *(*siblings)[index]; }
};

// The nodes from a root down to one block or loop, that one last. Empty: not
// found. Any change of the tree invalidates it.
using Path = std::vector<Position>;

Path FindBlock(BlockTree& tree, absl::string_view name);
Path FindLoop(BlockTree& tree, int var);
// The block that writes `buffer`; every buffer has at most one.
Path FindWriter(BlockTree& tree, int buffer);
// All blocks in execution order (a block within loops once).
std::vector<const Block*> AllBlocks(const BlockTree& tree);
std::vector<std::string> BlocksBelow(const std::vector<NodePtr>& nodes);
// The loops on `path`, outermost first, without the last node.
std::vector<Loop*> LoopsAround(const Path& path);
// Number of leading nodes that both paths share.
size_t CommonDepth(const Path& a, const Path& b);

NodePtr MakeLoopNode(Loop loop);
NodePtr MakeBlockNode(Block block);
// `loops` outermost first around `inner`.
NodePtr NestLoops(std::vector<Loop> loops, NodePtr inner);
// Takes the last node of `path` out of the tree, with every loop around it that
// would be left empty.
NodePtr Remove(BlockTree& tree, Path path);
// Calls `fn` on every block, in order.
void ForEachBlock(std::vector<NodePtr>& nodes,
                  const std::function<void(Block&)>& fn);
void ForEachLoop(std::vector<NodePtr>& nodes,
                 const std::function<void(Loop&)>& fn);

// Replaces loop variables in every binding, predicate and origin. A loop that
// some block rolls along cannot be replaced: VerifyBlockTree finds it missing.
void SubstituteLoopVars(BlockTree& tree,
                        const std::function<Expr(int var)>& binding);
// The ranges of all loop variables of the tree, as they are now. Holds a copy.
RangeOf LoopRanges(const BlockTree& tree);
// Buffer ids the block loads, ascending; not what it reduces into.
std::vector<int> LoadedBuffers(const Block& block);
bool WritesTo(const Block& block, int buffer);
// Binding of reduce axis `i` of the block.
inline const Expr& ReduceBinding(const Block& block, size_t i) {
  return block.bindings[block.axes.size() + i];
}
// Does the loop carry a reduce axis of the block?
bool CarriesReduction(const Loop& loop, const Block& block);
// The extents of the tensor the buffer holds (part of), also where only part is
// held.
std::vector<int64_t> LogicalShape(const BlockTree& tree, int buffer);
// Every element of the tensor is held, at origin 0.
bool HoldsWholeTensor(const BlockTree& tree, const Buffer& buffer);
// `name`, or `name` with the first number that makes it unique among blocks (or
// buffers).
std::string UniqueBlockName(const BlockTree& tree, const std::string& name);
std::string UniqueBufferName(const BlockTree& tree, const std::string& name);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_TREE_EDIT_H_
