#include "backends/lowering/threads/copy_parts.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/lowering/threads/thread_ops.h"
#include "backends/lowering/threads/thread_owner.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Role;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

namespace {

int LastNest(const std::vector<Stmt>& stmts) {
  int last = 0;
  for (const Stmt& stmt : stmts) {
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      last = std::max(
          {last, LastNest(branch->then_body), LastNest(branch->else_body)});
    } else if (const auto* loop = std::get_if<For>(&stmt.node)) {
      last = std::max({last, loop->place.nest, LastNest(loop->body)});
    }
  }
  return last;
}

}  // namespace

CopyParts::CopyParts(Kernel& kernel)
    : kernel_(kernel), ranges_(kernel), last_nest_(LastNest(kernel.body)) {}

bool CopyParts::MayPart(const Stmt& copy) const {
  if (!IsThreadLoop(copy)) return false;
  std::vector<Stmt> only_read = {copy};
  const std::vector<ThreadOp> ops = ThreadOps(only_read);
  return std::all_of(ops.begin(), ops.end(), [&](const ThreadOp& placed) {
    const TileOp& op = *placed.op;
    if (op.phase != TileOp::Phase::kMap || op.body[0].op() != Op::kLoad)
      return false;
    const Buffer& from = kernel_.buffers[op.body[0].source()];
    const Buffer& to = kernel_.buffers[op.dst[0]];
    const bool stays =
        from.role == Role::kInput || from.role == Role::kConstant;
    if (!stays || to.level != Level::kScratch || from.dtype != to.dtype)
      return false;
    const std::optional<Owner> owner =
        OwnerOf(op.index, placed.nest, ranges_.ranges());
    return owner && owner->missing.empty();
  });
}

CopyParts::Parts CopyParts::Part(const Stmt& copy) {
  ++last_nest_;
  std::vector<Stmt> loads = {copy}, stores = {copy};
  PartBodies(loads, stores);
  return {std::move(loads[0]), std::move(stores[0])};
}

// For what a thread loads ahead of the buffer.
int CopyParts::AddRegisters(int ahead_of) {
  const Buffer& held = kernel_.buffers[ahead_of];
  Buffer buffer;
  buffer.id = static_cast<int>(kernel_.buffers.size());
  buffer.name = absl::StrCat(held.name, ".next", buffer.id);
  buffer.dtype = held.dtype;
  buffer.level = Level::kRegisters;
  buffer.role = Role::kLocal;
  buffer.layout = Layout::RowMajor(held.layout.shape());
  kernel_.buffers.push_back(std::move(buffer));
  return kernel_.buffers.back().id;
}

// Of two equal copies the first becomes the loads, in a nest of their own, the
// second the stores.
void CopyParts::PartBodies(std::vector<Stmt>& loads,
                           std::vector<Stmt>& stores) {
  for (size_t i = 0; i < loads.size(); ++i) {
    if (auto* loop = std::get_if<For>(&loads[i].node)) {
      if (loop->place.nest >= 0) loop->place.nest = last_nest_;
      PartBodies(loop->body, std::get<For>(stores[i].node).body);
    } else if (auto* branch = std::get_if<If>(&loads[i].node)) {
      auto& other = std::get<If>(stores[i].node);
      PartBodies(branch->then_body, other.then_body);
      PartBodies(branch->else_body, other.else_body);
    } else {
      auto& load = std::get<TileOp>(loads[i].node);
      auto& store = std::get<TileOp>(stores[i].node);
      const int registers = AddRegisters(load.dst[0]);
      load.dst = {registers};
      store.body = {Expr::Load(registers, load.body[0].dtype(), store.index)};
    }
  }
}

}  // namespace tilewright::lowering
