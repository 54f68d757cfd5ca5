#include "backends/lowering/threads/combine_lanes.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

bool Combines(const Stmt& stmt) {
  if (const auto* loop = std::get_if<For>(&stmt.node))
    return loop->place.combines ||
           std::any_of(loop->body.begin(), loop->body.end(), Combines);
  const auto* branch = std::get_if<If>(&stmt.node);
  return branch != nullptr && (std::any_of(branch->then_body.begin(),
                                           branch->then_body.end(), Combines) ||
                               std::any_of(branch->else_body.begin(),
                                           branch->else_body.end(), Combines));
}

class Splitter {
 public:
  explicit Splitter(Kernel& kernel) : kernel_(kernel) {}

  std::vector<Stmt> Process(std::vector<Stmt> stmts) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (!Combines(stmt)) {
        out.push_back(std::move(stmt));
        continue;
      }
      if (auto* branch = std::get_if<If>(&stmt.node)) {
        branch->then_body = Process(std::move(branch->then_body));
        branch->else_body = Process(std::move(branch->else_body));
        out.push_back(std::move(stmt));
        continue;
      }
      auto& loop = std::get<For>(stmt.node);
      if (loop.kind == For::Kind::kThread) {
        Nest({Stmt{std::move(loop)}}, out);
      } else {
        loop.body = Process(std::move(loop.body));
        out.push_back(std::move(stmt));
      }
    }
    return out;
  }

  CombinedLanes Take() && { return std::move(combined_); }

 private:
  // The operations in `stmts`, each in a nest of its own.
  void Nest(const std::vector<Stmt>& stmts, std::vector<Stmt>& out) {
    for (const Stmt& stmt : stmts) {
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        loops_.push_back(loop);
        Nest(loop->body, out);
        loops_.pop_back();
      } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
        conditions_.push_back(branch->condition);
        Nest(branch->then_body, out);
        conditions_.back() = Expr::Make(Op::kNot, {branch->condition});
        Nest(branch->else_body, out);
        conditions_.pop_back();
      } else {
        TileOp op = std::get<TileOp>(stmt.node);
        std::vector<Expr> all = conditions_;
        if (op.predicate) all.push_back(op.predicate);
        op.predicate = Conjunction(all);
        if (loops_.back()->place.combines) {
          Combine(std::move(op), *loops_.back(), out);
        } else {
          Wrap(std::move(op), out);
        }
      }
    }
  }

  // In copies of the loops around; returns the variable of the outermost.
  int Wrap(TileOp op, std::vector<Stmt>& out) {
    std::vector<Stmt> stmts = {Stmt{std::move(op)}};
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      For copy;
      copy.var = (*loop)->var;
      copy.name = (*loop)->name;
      copy.extent = (*loop)->extent;
      copy.kind = (*loop)->kind;
      copy.hints = (*loop)->hints;
      copy.place = (*loop)->place;
      copy.place.combines = false;
      copy.body = std::move(stmts);
      stmts.clear();
      stmts.push_back(Stmt{std::move(copy)});
    }
    stmts = CloneStmts(stmts, {}, kernel_.num_vars);
    out.push_back(std::move(stmts[0]));
    return std::get<For>(out.back().node).var;
  }

  void Combine(TileOp op, const For& lanes, std::vector<Stmt>& out) {
    const int terms = AddTerms(op);
    std::vector<Expr> index;
    for (const TileAxis& axis : op.box)
      index.push_back(Expr::Var(axis.var, axis.name));
    TileOp identity = op;
    identity.phase = TileOp::Phase::kMap;
    identity.dst = {terms};
    identity.index = index;
    identity.body = op.combiner->Identity();
    identity.combiner = std::nullopt;
    identity.predicate = Expr();
    TileOp own = identity;
    own.body = op.body;
    own.predicate = op.predicate;
    combined_.everywhere.insert(Wrap(std::move(identity), out));
    Wrap(std::move(own), out);
    op.body = {Expr::Load(terms, kernel_.buffers[terms].dtype, index)};
    // Elements that only the terms leave out leave the accumulator as it is.
    std::vector<Expr> spatial;
    for (const Expr& condition : Conjuncts(op.predicate)) {
      if (!Mentions(condition, lanes.var)) spatial.push_back(condition);
    }
    op.predicate = Conjunction(spatial);
    const Combiner combiner = *op.combiner;
    combined_.exchanges.emplace(
        Wrap(std::move(op), out),
        LaneExchange{terms, lanes.place.stride, lanes.extent, combiner});
  }

  int AddTerms(const TileOp& op) {
    std::vector<int64_t> shape;
    for (const TileAxis& axis : op.box) shape.push_back(axis.extent);
    Buffer buffer;
    buffer.id = static_cast<int>(kernel_.buffers.size());
    buffer.name =
        absl::StrCat(kernel_.buffers[op.dst[0]].name, ".lanes", buffer.id);
    buffer.dtype = op.combiner->component_dtype(0);
    buffer.level = kernel_ir::Level::kRegisters;
    buffer.role = kernel_ir::Role::kLocal;
    buffer.layout = Layout::RowMajor(shape);
    combined_.equal_in_lanes.insert(buffer.id);
    kernel_.buffers.push_back(std::move(buffer));
    return kernel_.buffers.back().id;
  }

  Kernel& kernel_;
  CombinedLanes combined_;
  std::vector<const For*> loops_;
  std::vector<Expr> conditions_;
};

}  // namespace

CombinedLanes CombineLanes(Kernel& kernel) {
  Splitter splitter(kernel);
  kernel.body = splitter.Process(std::move(kernel.body));
  return std::move(splitter).Take();
}

}  // namespace tilewright::lowering
