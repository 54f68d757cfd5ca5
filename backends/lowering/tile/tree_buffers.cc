#include "backends/lowering/tile/tree_buffers.h"

#include <set>
#include <utility>

namespace tilewright::lowering {
namespace {

void FindTouched(const std::vector<sketch::NodePtr>& nodes,
                 std::set<int>& written, std::set<int>& touched) {
  for (const sketch::NodePtr& node : nodes) {
    if (node->loop.has_value()) FindTouched(node->loop->body, written, touched);
    if (!node->block.has_value()) continue;
    for (int dst : node->block->dst) {
      written.insert(dst);
      touched.insert(dst);
    }
    std::vector<Expr> bodies = node->block->body;
    if (node->block->rescaling) bodies.push_back(node->block->rescaling);
    for (const Expr& body : bodies) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad) touched.insert(e.source());
      });
    }
  }
}

kernel_ir::Level LevelOf(sketch::MemLevel level) {
  switch (level) {
    case sketch::MemLevel::kGlobal:
      return kernel_ir::Level::kGlobal;
    case sketch::MemLevel::kRegisters:
      return kernel_ir::Level::kRegisters;
    default:
      return kernel_ir::Level::kScratch;
  }
}

}  // namespace

TreeBuffers BuffersOf(const sketch::BlockTree& tree) {
  std::set<int> written, touched;
  FindTouched(tree.roots, written, touched);
  TreeBuffers result;
  for (const bool global : {true, false}) {
    for (const sketch::Buffer& b : tree.buffers) {
      if ((b.level == sketch::MemLevel::kGlobal) != global ||
          (!global && touched.count(b.id) == 0))
        continue;
      kernel_ir::Buffer buffer;
      buffer.id = static_cast<int>(result.buffers.size());
      buffer.name = b.name;
      buffer.dtype = b.dtype;
      buffer.level = LevelOf(b.level);
      buffer.role = !global                   ? kernel_ir::Role::kLocal
                    : written.count(b.id) > 0 ? kernel_ir::Role::kOutput
                                              : kernel_ir::Role::kInput;
      buffer.layout = b.layout;
      buffer.streamed = b.streamed;
      buffer.swizzle = b.swizzle;
      result.ids[b.id] = buffer.id;
      result.buffers.push_back(std::move(buffer));
    }
  }
  return result;
}

}  // namespace tilewright::lowering
