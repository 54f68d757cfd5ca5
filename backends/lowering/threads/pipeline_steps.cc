#include "backends/lowering/threads/pipeline_steps.h"

#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "backends/lowering/threads/copy_parts.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;

namespace {

class Pipeliner {
 public:
  explicit Pipeliner(Kernel& kernel) : kernel_(kernel), parts_(kernel) {}

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
  void Pipeline(For loop, std::vector<Stmt>& out) {
    std::vector<Stmt> ahead;
    size_t behind = 0;  // the last copy
    for (size_t i = 0; i < loop.body.size(); ++i) {
      if (!parts_.MayPart(loop.body[i])) continue;
      ++copies_;
      auto [load, store] = parts_.Part(loop.body[i]);
      loop.body[i] = std::move(store);
      ahead.push_back(std::move(load));
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
  CopyParts parts_;  // of the kernel as it was
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
