#include "backends/lowering/threads/version_steps.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/lowering/threads/copy_parts.h"
#include "backends/lowering/threads/thread_ops.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "base/check.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
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

using Bodies = std::vector<std::vector<Stmt>*>;

// What stands inside a loop or branch.
Bodies InnerBodies(Stmt& stmt) {
  if (auto* loop = std::get_if<For>(&stmt.node)) return {&loop->body};
  if (auto* branch = std::get_if<If>(&stmt.node))
    return {&branch->then_body, &branch->else_body};
  return {};
}

void ForEachOpIn(std::vector<Stmt>& stmts,
                 const std::function<void(TileOp&)>& fn) {
  for (Stmt& stmt : stmts) {
    if (auto* op = std::get_if<TileOp>(&stmt.node)) fn(*op);
    for (std::vector<Stmt>* body : InnerBodies(stmt)) ForEachOpIn(*body, fn);
  }
}

struct Touched {
  std::set<int> read, written;
};
Touched TouchedBy(const Stmt& stmt) {
  Touched touched;
  ForEachOp(stmt, [&](const TileOp& op) {
    for (const BufferAccess& access : AccessesOf(op))
      (access.is_store ? touched.written : touched.read).insert(access.buffer);
    if (op.phase == TileOp::Phase::kUpdate)
      touched.read.insert(op.dst.begin(), op.dst.end());
  });
  return touched;
}

class Versioner {
 public:
  explicit Versioner(Kernel& kernel) : kernel_(kernel), parts_(kernel) {}

  int Run() {
    FindLoops(kernel_.body);
    for (const For* loop : loops_) {
      for (const int buffer : CandidatesOf(*loop)) candidates_.insert(buffer);
    }
    for (const For* loop : loops_) {
      for (const int buffer : UnfitIn(*loop)) candidates_.erase(buffer);
    }
    std::set<int> valid;
    CheckOutside(kernel_.body, valid);
    KeepTogether();
    if (candidates_.empty()) return 0;
    int copies = 0;
    kernel_.body = Process(std::move(kernel_.body), copies);
    GiveVersions();
    return copies;
  }

 private:
  static bool IsWanted(const For& loop) {
    return loop.kind == For::Kind::kSerial && loop.hints.buffers > 1 &&
           loop.extent > 1;
  }
  void FindLoops(std::vector<Stmt>& stmts) {
    for (Stmt& stmt : stmts) {
      if (const auto* loop = std::get_if<For>(&stmt.node);
          loop != nullptr && IsWanted(*loop)) {
        loops_.push_back(loop);
        continue;
      }
      for (std::vector<Stmt>* body : InnerBodies(stmt)) FindLoops(*body);
    }
  }

  // Whether threads do nothing but make scratch of arguments that stay.
  bool IsCopy(const Stmt& stmt) const {
    if (!HoldsThreads(stmt)) return false;
    bool copies = true;
    ForEachOp(stmt, [&](const TileOp& op) {
      copies = copies && op.phase == TileOp::Phase::kMap &&
               kernel_.buffers[op.dst[0]].level == Level::kScratch;
      for (const BufferAccess& access : AccessesOf(op)) {
        const Role role = kernel_.buffers[access.buffer].role;
        copies = copies && (access.is_store || role == Role::kInput ||
                            role == Role::kConstant);
      }
    });
    return copies;
  }

  std::set<int> CandidatesOf(const For& loop) const {
    std::set<int> found;
    for (const Stmt& stmt : loop.body) {
      if (!IsCopy(stmt)) continue;
      const Touched touched = TouchedBy(stmt);
      found.insert(touched.written.begin(), touched.written.end());
    }
    return found;
  }

  // Those that the loop uses otherwise than that one copy fills them, and reads
  // come behind it, each step in the same places.
  std::set<int> UnfitIn(const For& loop) const {
    std::set<int> unfit, filled;
    for (const Stmt& stmt : loop.body) {
      const bool copy = IsCopy(stmt);
      const Touched touched = TouchedBy(stmt);
      for (const int buffer : touched.read) {
        if (filled.count(buffer) == 0) unfit.insert(buffer);
      }
      for (const int buffer : touched.written) {
        if (!copy || !filled.insert(buffer).second) unfit.insert(buffer);
      }
      ForEachOp(stmt, [&](const TileOp& op) {
        for (const BufferAccess& access : AccessesOf(op)) {
          const bool moves =
              std::any_of(access.index.begin(), access.index.end(),
                          [&](const Expr& e) { return Mentions(e, loop.var); });
          if (moves || !kernel_.buffers[access.buffer].layout.is_dense())
            unfit.insert(access.buffer);
        }
      });
    }
    return unfit;
  }

  // A copy of several buffers moves with all of them or not at all.
  void KeepTogether() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const For* loop : loops_) {
        for (const Stmt& stmt : loop->body) {
          if (!IsCopy(stmt) || MayMove(stmt)) continue;
          for (const int buffer : TouchedBy(stmt).written)
            changed = candidates_.erase(buffer) > 0 || changed;
        }
      }
    }
  }
  bool MayMove(const Stmt& copy) const {
    const std::set<int> written = TouchedBy(copy).written;
    return std::all_of(written.begin(), written.end(), [&](int buffer) {
      return candidates_.count(buffer) > 0;
    });
  }

  // Outside of the loops nobody reads what one of them has left: `valid` is
  // what has been written since.
  void CheckOutside(std::vector<Stmt>& stmts, std::set<int>& valid) {
    for (Stmt& stmt : stmts) {
      const auto* loop = std::get_if<For>(&stmt.node);
      if (loop != nullptr && IsWanted(*loop)) {
        for (const int buffer : TouchedBy(stmt).written) valid.erase(buffer);
      } else if (const auto* op = std::get_if<TileOp>(&stmt.node)) {
        const Touched touched = TouchedBy(stmt);
        for (const int buffer : touched.read) {
          if (valid.count(buffer) == 0) candidates_.erase(buffer);
        }
        valid.insert(op->dst.begin(), op->dst.end());
      } else {
        std::vector<std::set<int>> after;
        for (std::vector<Stmt>* body : InnerBodies(stmt)) {
          after.push_back(valid);
          CheckOutside(*body, after.back());
        }
        // Threads, and loops of one or more iterations, all get there.
        valid = after[0];
        for (const std::set<int>& other : after) {
          for (auto it = valid.begin(); it != valid.end();)
            it = other.count(*it) > 0 ? std::next(it) : valid.erase(it);
        }
      }
    }
  }

  std::vector<Stmt> Process(std::vector<Stmt> stmts, int& copies) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node);
          loop != nullptr && IsWanted(*loop)) {
        Turn(std::move(*loop), copies, out);
        continue;
      }
      for (std::vector<Stmt>* body : InnerBodies(stmt))
        *body = Process(std::move(*body), copies);
      out.push_back(std::move(stmt));
    }
    return out;
  }

  // The index of the version comes before the others.
  void AddIndex(std::vector<Stmt>& stmts, const Expr& version) {
    const auto with = [&](absl::Span<const Expr> index) {
      std::vector<Expr> longer = {version};
      longer.insert(longer.end(), index.begin(), index.end());
      return longer;
    };
    const auto is_short = [&](int buffer, size_t rank) {
      return candidates_.count(buffer) > 0 &&
             rank == kernel_.buffers[buffer].layout.shape().size();
    };
    ForEachOpIn(stmts, [&](TileOp& op) {
      for (Expr& body : op.body) {
        body = Rewrite(body, [&](const Expr& e) {
          return e.op() == Op::kLoad &&
                         is_short(e.source(), e.operands().size())
                     ? Expr::Load(e.source(), e.dtype(), with(e.operands()))
                     : Expr();
        });
      }
      if (is_short(op.dst[0], op.index.size())) op.index = with(op.index);
    });
  }

  void Turn(For loop, int& copies, std::vector<Stmt>& out) {
    const int64_t versions = std::min<int64_t>(loop.hints.buffers, loop.extent);
    const bool async = loop.hints.stages == 1;
    std::vector<Stmt> fills, rest;
    for (Stmt& stmt : loop.body) {
      const bool moves = IsCopy(stmt) && MayMove(stmt);
      (moves ? fills : rest).push_back(std::move(stmt));
    }
    const Expr step = Expr::Var(loop.var, loop.name);
    const Expr version = FloorMod(step, Expr::Int(versions));
    AddIndex(rest, version);
    loop.body = std::move(rest);
    if (fills.empty()) {
      out.push_back({std::move(loop)});
      return;
    }
    copies += static_cast<int>(fills.size());
    ForEachOpIn(fills, [&](TileOp& op) {
      op.async = async;
      int64_t& most = versions_[op.dst[0]];
      most = std::max(most, versions);
    });
    std::vector<Stmt> loads, stores;
    if (!async) Part(fills, loads, stores);
    AddIndex(fills, version);
    AddIndex(stores, version);

    For first;
    first.var = kernel_.num_vars++;
    first.name = loop.name;
    first.extent = versions - 1;
    first.turns = {versions, /*ahead=*/true, async};
    first.body =
        CloneStmts(fills, {{loop.var, Expr::Var(first.var, first.name)}},
                   kernel_.num_vars);
    out.push_back({std::move(first)});
    // Of a later step, if there is one.
    const auto later = [&](const std::vector<Stmt>& stmts) {
      return Stmt{
          If{Expr::Make(Op::kLt, {step, Expr::Int(loop.extent - versions + 1)}),
             CloneStmts(stmts, {{loop.var, step + Expr::Int(versions - 1)}},
                        kernel_.num_vars),
             {}}};
    };
    if (async) loads = std::move(fills);
    if (!loads.empty()) loop.body.insert(loop.body.begin(), later(loads));
    if (!async) loop.body.push_back(later(stores));
    loop.turns = {versions, /*ahead=*/false, async};
    loop.hints.stages = 1;
    out.push_back({std::move(loop)});
  }

  // What cannot be parted is a store as it is.
  void Part(const std::vector<Stmt>& fills, std::vector<Stmt>& loads,
            std::vector<Stmt>& stores) {
    for (const Stmt& fill : fills) {
      if (!parts_.MayPart(fill)) {
        stores.push_back(fill);
        continue;
      }
      auto [load, store] = parts_.Part(fill);
      loads.push_back(std::move(load));
      stores.push_back(std::move(store));
    }
  }

  void GiveVersions() {
    AddIndex(kernel_.body, Expr::Int(0));
    for (const auto& [id, versions] : versions_) {
      Buffer& buffer = kernel_.buffers[id];
      const Layout& one = buffer.layout;
      const auto with = [](int64_t first, std::vector<int64_t> others) {
        others.insert(others.begin(), first);
        return others;
      };
      std::vector<Layout::Digit> digits = {{0, 1, versions}};
      for (Layout::Digit digit : one.digits()) {
        ++digit.dim;
        digits.push_back(digit);
      }
      const absl::StatusOr<Layout> layout = Layout::Create(
          with(versions, one.shape()), with(0, one.pad_before()),
          with(0, one.pad_after()), std::move(digits), one.fill());
      TW_CHECK_OK(layout);
      buffer.layout = *layout;
      buffer.versions = versions;
    }
  }

  Kernel& kernel_;
  CopyParts parts_;  // of the kernel as it was
  std::vector<const For*> loops_;
  std::set<int> candidates_;         // buffers
  std::map<int, int64_t> versions_;  // by buffer
};

}  // namespace

int VersionSteps(Kernel& kernel) { return Versioner(kernel).Run(); }

}  // namespace tilewright::lowering
