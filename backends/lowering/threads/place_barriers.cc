#include "backends/lowering/threads/place_barriers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "backends/lowering/threads/thread_ops.h"
#include "backends/lowering/threads/thread_owner.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;

namespace {

// A touch of a buffer that may not have been followed by a barrier.
struct Touch {
  int buffer;
  bool is_store;
  bool by_first;                   // thread of the block, alone
  std::optional<int64_t> version;  // of the buffer; unset: any
  // Where every thread of the nest has its own elements: whose they are.
  std::vector<OwnerDigit> owner;
  friend bool operator==(const Touch& a, const Touch& b) {
    return a.buffer == b.buffer && a.is_store == b.is_store &&
           a.by_first == b.by_first && a.version == b.version &&
           a.owner == b.owner;
  }
};

bool Conflict(const Touch& a, const Touch& b) {
  if (a.buffer != b.buffer || (!a.is_store && !b.is_store)) return false;
  if (a.version && b.version && *a.version != *b.version) return false;
  if (a.by_first && b.by_first) return false;
  return a.owner.empty() || !(a.owner == b.owner);
}

class Placer {
 public:
  Placer(const Kernel& kernel, const std::set<int>& shared)
      : kernel_(kernel), shared_(shared), ranges_(kernel) {}

  std::set<const Stmt*> Run() {
    const std::vector<Stmt>* body = &kernel_.body;
    while (body->size() == 1) {
      const auto* loop = std::get_if<For>(&body->front().node);
      if (loop == nullptr || loop->kind != For::Kind::kTask) break;
      body = &loop->body;
    }
    std::vector<Touch> since;
    Walk(*body, since);
    return std::move(barriers_);
  }

 private:
  // `since`: touches since the last barrier, before and after.
  void Walk(const std::vector<Stmt>& stmts, std::vector<Touch>& since) {
    for (const Stmt& stmt : stmts) {
      if (IsThreadLoop(stmt) || !HoldsThreads(stmt)) {
        Step(stmt, since);
      } else if (const auto* loop = std::get_if<For>(&stmt.node);
                 loop != nullptr && loop->turns.versions > 1) {
        Turns(*loop, since);
      } else if (loop != nullptr) {
        // The next iteration meets what the last one has touched.
        for (size_t before = barriers_.size() + 1;
             before != barriers_.size();) {
          before = barriers_.size();
          Walk(loop->body, since);
        }
      } else {
        const If& branch = std::get<If>(stmt.node);
        std::vector<Touch> other = since;
        Walk(branch.then_body, since);
        Walk(branch.else_body, other);
        for (Touch& touch : other) Add(std::move(touch), since);
      }
    }
  }

  // Steps one by one, so that versions are known; of many, some of the first
  // and some of the last, in turn: a barrier stands before each.
  void Turns(const For& loop, std::vector<Touch>& since) {
    const int64_t versions = loop.turns.versions;
    const int64_t first = std::min(loop.extent, 2 * versions);
    const int64_t last =
        std::max(first, (loop.extent / versions - 1) * versions);
    const std::vector<Touch> before_loop = since;
    for (size_t before = barriers_.size() + 1; before != barriers_.size();) {
      before = barriers_.size();
      since = before_loop;
      for (int64_t step = 0; step < loop.extent;
           step = step + 1 == first ? last : step + 1) {
        steps_[loop.var] = step;
        if (!loop.turns.ahead) {
          barriers_.insert(&loop.body.front());
          since.clear();
        }
        Walk(loop.body, since);
      }
    }
    steps_.erase(loop.var);
  }

  // Which version of the buffer, where that is known.
  std::optional<int64_t> VersionOf(int buffer,
                                   const std::vector<Expr>& index) const {
    if (kernel_.buffers[buffer].versions == 1) return std::nullopt;
    const Expr version = Simplify(
        Substitute(index[0],
                   [&](int var) {
                     const auto step = steps_.find(var);
                     return step == steps_.end() ? Expr()
                                                 : Expr::Int(step->second);
                   }),
        ranges_.ranges());
    if (version.op() != Op::kConst) return std::nullopt;
    return version.int_value();
  }

  void Step(const Stmt& stmt, std::vector<Touch>& since) {
    const std::vector<Touch> touches = TouchesOf(stmt);
    const bool waits =
        barriers_.count(&stmt) > 0 ||
        std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
          return std::any_of(
              since.begin(), since.end(),
              [&](const Touch& other) { return Conflict(other, touch); });
        });
    if (waits) {
      barriers_.insert(&stmt);
      since.clear();
    }
    for (const Touch& touch : touches) Add(touch, since);
  }

  static void Add(Touch touch, std::vector<Touch>& to) {
    if (std::find(to.begin(), to.end(), touch) == to.end())
      to.push_back(std::move(touch));
  }

  std::vector<Touch> TouchesOf(const Stmt& stmt) const {
    std::vector<Touch> touches;
    // Only read: no operation is changed.
    std::vector<Stmt> copy = {stmt};
    for (const ThreadOp& op : ThreadOps(copy)) {
      for (const BufferAccess& access : AccessesOf(*op.op)) {
        if (shared_.count(access.buffer) == 0) continue;
        Touch touch{access.buffer,
                    access.is_store,
                    op.nest.empty(),
                    VersionOf(access.buffer, access.index),
                    {}};
        const std::optional<Owner> owner =
            OwnerOf(access.index, op.nest, ranges_.ranges());
        if (owner && owner->missing.empty()) touch.owner = owner->digits;
        Add(std::move(touch), touches);
      }
    }
    return touches;
  }

  const Kernel& kernel_;
  const std::set<int>& shared_;
  const KernelRanges ranges_;
  std::set<const Stmt*> barriers_;
  std::map<int, int64_t> steps_;  // by variable of a loop
};

}  // namespace

std::set<const Stmt*> PlaceBarriers(const Kernel& kernel,
                                    const std::set<int>& shared) {
  return Placer(kernel, shared).Run();
}

}  // namespace tilewright::lowering
