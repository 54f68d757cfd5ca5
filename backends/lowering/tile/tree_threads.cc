#include "backends/lowering/tile/tree_threads.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "sketch/tree/thread_loops.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;

namespace {

void AddNests(const sketch::Node& node, TreeThreads& threads, bool& in_warps) {
  if (!node.loop) return;
  if (!sketch::IsOnThreads(*node.loop)) {
    for (const sketch::NodePtr& child : node.loop->body)
      AddNests(*child, threads, in_warps);
    return;
  }
  const std::vector<const sketch::Loop*> nest = sketch::ThreadNest(*node.loop);
  threads.count =
      std::max(threads.count, static_cast<int>(sketch::ThreadsOf(nest)));
  in_warps |= nest[0]->kind != sketch::LoopKind::kThread;
  for (const auto& [var, place] : sketch::ThreadPlaces(nest))
    threads.places[var] = {place.stride, place.wraps, false, nest[0]->var};
}

// Whether `var` numbers terms of a reduction in these nodes.
bool CarriesReduction(int var, const std::vector<sketch::NodePtr>& nodes) {
  return std::any_of(
      nodes.begin(), nodes.end(), [&](const sketch::NodePtr& node) {
        if (node->loop) return CarriesReduction(var, node->loop->body);
        const sketch::Block& block = *node->block;
        return std::any_of(block.bindings.begin() + block.axes.size(),
                           block.bindings.end(),
                           [&](const Expr& e) { return Mentions(e, var); });
      });
}

}  // namespace

TreeThreads ThreadsOf(const sketch::BlockTree& tree) {
  TreeThreads threads;
  bool in_warps = false;
  for (const sketch::NodePtr& root : tree.roots)
    AddNests(*root, threads, in_warps);
  const int warp = static_cast<int>(sketch::kWarpLanes);
  if (in_warps) threads.count = (threads.count + warp - 1) / warp * warp;
  return threads;
}

bool CombinesThreads(const sketch::Loop& loop) {
  return sketch::IsOnThreads(loop) && loop.extent > 1 &&
         CarriesReduction(loop.var, loop.body);
}

void PutInnermost(For& combining) {
  For* loop = &combining;
  while (loop->body.size() == 1) {
    For* inner = std::get_if<For>(&loop->body[0].node);
    if (inner == nullptr) return;
    std::swap(loop->var, inner->var);
    std::swap(loop->name, inner->name);
    std::swap(loop->extent, inner->extent);
    std::swap(loop->place, inner->place);
    loop = inner;
  }
}

}  // namespace tilewright::lowering
