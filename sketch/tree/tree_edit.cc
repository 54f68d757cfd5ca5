#include "sketch/tree/tree_edit.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

template <typename IsWanted>
bool FindNode(std::vector<NodePtr>& nodes, const IsWanted& is_wanted,
              Path& path) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    path.push_back({&nodes, i});
    if (is_wanted(*nodes[i])) return true;
    if (nodes[i]->loop && FindNode(nodes[i]->loop->body, is_wanted, path))
      return true;
    path.pop_back();
  }
  return false;
}

template <typename IsWanted>
Path Find(BlockTree& tree, const IsWanted& is_wanted) {
  Path path;
  FindNode(tree.roots, is_wanted, path);
  return path;
}

void VisitNodes(const std::vector<NodePtr>& nodes,
                const std::function<void(const Node&)>& fn) {
  for (const NodePtr& node : nodes) {
    fn(*node);
    if (node->loop) VisitNodes(node->loop->body, fn);
  }
}

}  // namespace

Path FindBlock(BlockTree& tree, absl::string_view name) {
  return Find(tree, [&](const Node& node) {
    return node.block && node.block->name == name;
  });
}

Path FindLoop(BlockTree& tree, int var) {
  return Find(tree, [&](const Node& node) {
    return node.loop && node.loop->var == var;
  });
}

Path FindWriter(BlockTree& tree, int buffer) {
  return Find(tree, [&](const Node& node) {
    return node.block && WritesTo(*node.block, buffer);
  });
}

std::vector<const Block*> AllBlocks(const BlockTree& tree) {
  std::vector<const Block*> blocks;
  VisitNodes(tree.roots, [&](const Node& node) {
    if (node.block) blocks.push_back(&*node.block);
  });
  return blocks;
}

std::vector<std::string> BlocksBelow(const std::vector<NodePtr>& nodes) {
  std::vector<std::string> names;
  VisitNodes(nodes, [&](const Node& node) {
    if (node.block) names.push_back(node.block->name);
  });
  return names;
}

std::vector<Loop*> LoopsAround(const Path& path) {
  std::vector<Loop*> loops;
  for (size_t i = 0; i + 1 < path.size(); ++i)
    loops.push_back(&*path[i].node().loop);
  return loops;
}

size_t CommonDepth(const Path& a, const Path& b) {
  size_t depth = 0;
  while (depth < a.size() && depth < b.size() &&
         &a[depth].node() == &b[depth].node())
    ++depth;
  return depth;
}

NodePtr MakeLoopNode(Loop loop) {
  auto node = std::make_unique<Node>();
  node->loop = std::move(loop);
  return node;
}

NodePtr MakeBlockNode(Block block) {
  auto node = std::make_unique<Node>();
  node->block = std::move(block);
  return node;
}

NodePtr NestLoops(std::vector<Loop> loops, NodePtr inner) {
  while (!loops.empty()) {
    Loop loop = std::move(loops.back());
    loops.pop_back();
    loop.body.clear();
    loop.body.push_back(std::move(inner));
    inner = MakeLoopNode(std::move(loop));
  }
  return inner;
}

NodePtr Remove(BlockTree&, Path path) {
  TW_CHECK(!path.empty());
  NodePtr removed;
  while (!path.empty()) {
    std::vector<NodePtr>& siblings = *path.back().siblings;
    NodePtr node = std::move(siblings[path.back().index]);
    siblings.erase(siblings.begin() +
                   static_cast<std::ptrdiff_t>(path.back().index));
    if (!removed) removed = std::move(node);
    path.pop_back();
    if (!siblings.empty()) break;
  }
  return removed;
}

void ForEachBlock(std::vector<NodePtr>& nodes,
                  const std::function<void(Block&)>& fn) {
  for (NodePtr& node : nodes) {
    if (node->block) fn(*node->block);
    if (node->loop) ForEachBlock(node->loop->body, fn);
  }
}

void ForEachLoop(std::vector<NodePtr>& nodes,
                 const std::function<void(Loop&)>& fn) {
  for (NodePtr& node : nodes) {
    if (!node->loop) continue;
    fn(*node->loop);
    ForEachLoop(node->loop->body, fn);
  }
}

void SubstituteLoopVars(BlockTree& tree,
                        const std::function<Expr(int var)>& binding) {
  auto replace = [&](Expr& expr) { expr = Substitute(expr, binding); };
  ForEachBlock(tree.roots, [&](Block& block) {
    for (Expr& expr : block.bindings) replace(expr);
    for (Expr& expr : block.predicates) replace(expr);
    if (block.rolling) replace(block.rolling->from);
  });
  for (Buffer& buffer : tree.buffers) {
    for (Expr& expr : buffer.origin) replace(expr);
  }
}

RangeOf LoopRanges(const BlockTree& tree) {
  // Shared, because whoever adds variables to a RangeOf copies it.
  const auto ranges = std::make_shared<std::vector<std::optional<Range>>>();
  VisitNodes(tree.roots, [&](const Node& node) {
    if (!node.loop) return;
    const size_t var = static_cast<size_t>(node.loop->var);
    if (var >= ranges->size()) ranges->resize(var + 1);
    (*ranges)[var] = Range{0, node.loop->extent - 1};
  });
  return [ranges](int var) -> std::optional<Range> {
    if (var < 0 || static_cast<size_t>(var) >= ranges->size())
      return std::nullopt;
    return (*ranges)[static_cast<size_t>(var)];
  };
}

std::vector<int> LoadedBuffers(const Block& block) {
  std::set<int> buffers;
  const auto add = [&](const Expr& expr) {
    Visit(expr, [&](const Expr& e) {
      if (e.op() == Op::kLoad) buffers.insert(e.source());
    });
  };
  for (const Expr& body : block.body) add(body);
  if (block.rescaling) {
    add(block.rescaling);
    buffers.erase(block.dst[0]);
  }
  return {buffers.begin(), buffers.end()};
}

bool WritesTo(const Block& block, int buffer) {
  return std::find(block.dst.begin(), block.dst.end(), buffer) !=
         block.dst.end();
}

bool CarriesReduction(const Loop& loop, const Block& block) {
  for (size_t i = 0; i < block.reduce_axes.size(); ++i) {
    if (Mentions(ReduceBinding(block, i), loop.var)) return true;
  }
  return false;
}

std::vector<int64_t> LogicalShape(const BlockTree& tree, int buffer) {
  for (const Block* block : AllBlocks(tree)) {
    if (!WritesTo(*block, buffer)) continue;
    std::vector<int64_t> shape;
    for (const Axis& axis : block->axes) shape.push_back(axis.extent.value());
    return shape;
  }
  return tree.buffers[buffer].layout.shape();
}

bool HoldsWholeTensor(const BlockTree& tree, const Buffer& buffer) {
  for (const Expr& origin : buffer.origin) {
    if (!origin.IsIntConst(0)) return false;
  }
  return buffer.layout.shape() == LogicalShape(tree, buffer.id);
}

std::string UniqueBlockName(const BlockTree& tree, const std::string& name) {
  std::set<std::string> taken;
  for (const Block* block : AllBlocks(tree)) taken.insert(block->name);
  std::string unique = name;
  for (int i = 1; taken.count(unique) != 0; ++i) unique = absl::StrCat(name, i);
  return unique;
}

std::string UniqueBufferName(const BlockTree& tree, const std::string& name) {
  std::set<std::string> taken;
  for (const Buffer& buffer : tree.buffers) taken.insert(buffer.name);
  std::string unique = name;
  for (int i = 1; taken.count(unique) != 0; ++i) unique = absl::StrCat(name, i);
  return unique;
}

}  // namespace tilewright::sketch
