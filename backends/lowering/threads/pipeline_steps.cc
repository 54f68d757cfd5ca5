#include "backends/lowering/threads/pipeline_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/lowering/threads/thread_ops.h"
#include "backends/lowering/threads/thread_owner.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/tile/tile_rewrite.h"
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

class Pipeliner {
 public:
  explicit Pipeliner(Kernel& kernel)
      : kernel_(kernel), ranges_(kernel), next_nest_(MostNest(kernel.body)) {}

  std::vector<Stmt> Process(std::vector<Stmt> stmts) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (auto* branch = std::get_if<If>(&stmt.node)) {
        branch->then_body = Process(std::move(branch->then_body));
        branch->else_body = Process(std::move(branch->else_body));
      } else if (auto* loop = std::get_if<For>(&stmt.node);
                 loop != nullptr && loop->kind != For::Kind::kThread) {
        if (loop->kind == For::Kind::kSerial && loop->hints.stages > 1 &&
            loop->extent > 1) {
          Pipeline(std::move(*loop), out);
          continue;
        }
        loop->body = Process(std::move(loop->body));
      }
      out.push_back(std::move(stmt));
    }
    return out;
  }

  int copies() const { return copies_; }

 private:
  static int MostNest(const std::vector<Stmt>& stmts) {
    int most = 0;
    for (const Stmt& stmt : stmts) {
      if (const auto* branch = std::get_if<If>(&stmt.node)) {
        most = std::max(
            {most, MostNest(branch->then_body), MostNest(branch->else_body)});
      } else if (const auto* loop = std::get_if<For>(&stmt.node)) {
        most = std::max({most, loop->place.nest, MostNest(loop->body)});
      }
    }
    return most;
  }

  // Whether each element that it stores one thread loads from an argument that
  // stays as it is.
  bool IsCopy(const Stmt& nest) const {
    if (!IsThreadLoop(nest)) return false;
    std::vector<Stmt> copy = {nest};  // only read
    const std::vector<ThreadOp> ops = ThreadOps(copy);
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

  // For what a thread loads ahead of the buffer.
  int AddRegisters(int ahead_of) {
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

  // Of two equal copies the first becomes the loads, in a nest of their own,
  // the second the stores.
  void Part(std::vector<Stmt>& loads, std::vector<Stmt>& stores) {
    for (size_t i = 0; i < loads.size(); ++i) {
      if (auto* loop = std::get_if<For>(&loads[i].node)) {
        if (loop->place.nest >= 0) loop->place.nest = next_nest_;
        Part(loop->body, std::get<For>(stores[i].node).body);
      } else if (auto* branch = std::get_if<If>(&loads[i].node)) {
        auto& other = std::get<If>(stores[i].node);
        Part(branch->then_body, other.then_body);
        Part(branch->else_body, other.else_body);
      } else {
        auto& load = std::get<TileOp>(loads[i].node);
        auto& store = std::get<TileOp>(stores[i].node);
        const int registers = AddRegisters(load.dst[0]);
        load.dst = {registers};
        store.body = {Expr::Load(registers, load.body[0].dtype(), store.index)};
      }
    }
  }

  void Pipeline(For loop, std::vector<Stmt>& out) {
    std::vector<Stmt> ahead;
    size_t behind = 0;  // the last copy
    for (size_t i = 0; i < loop.body.size(); ++i) {
      if (!IsCopy(loop.body[i])) continue;
      ++next_nest_;
      ++copies_;
      std::vector<Stmt> loads = {loop.body[i]}, stores = {loop.body[i]};
      Part(loads, stores);
      loop.body[i] = std::move(stores[0]);
      ahead.push_back(std::move(loads[0]));
      behind = i + 1;
    }
    if (ahead.empty()) {
      out.push_back(Stmt{std::move(loop)});
      return;
    }
    const auto step = [&](const std::vector<Stmt>& stmts, const Expr& number) {
      return CloneStmts(stmts, {{loop.var, number}}, kernel_.num_vars);
    };
    const auto append = [](std::vector<Stmt> stmts, std::vector<Stmt>& to) {
      to.insert(to.end(), std::make_move_iterator(stmts.begin()),
                std::make_move_iterator(stmts.end()));
    };
    append(step(ahead, Expr::Int(0)), out);
    std::vector<Stmt> last = step(loop.body, Expr::Int(loop.extent - 1));
    std::vector<Stmt> next =
        step(ahead, Expr::Var(loop.var, loop.name) + Expr::Int(1));
    loop.body.insert(loop.body.begin() + static_cast<std::ptrdiff_t>(behind),
                     std::make_move_iterator(next.begin()),
                     std::make_move_iterator(next.end()));
    --loop.extent;
    out.push_back(Stmt{std::move(loop)});
    append(std::move(last), out);
  }

  Kernel& kernel_;
  const KernelRanges ranges_;  // of the kernel as it was
  int next_nest_;              // a number that no nest has, minus one
  int copies_ = 0;
};

}  // namespace

int PipelineSteps(Kernel& kernel) {
  Pipeliner pipeliner(kernel);
  std::vector<Stmt> body = std::move(kernel.body);
  kernel.body.clear();
  kernel.body = pipeliner.Process(std::move(body));
  return pipeliner.copies();
}

}  // namespace tilewright::lowering
