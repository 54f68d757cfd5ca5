#include "backends/lowering/threads/combine_lanes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr.h"
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

Expr Renamed(const Expr& expr, const std::map<int, Expr>& names) {
  return Substitute(expr, [&](int var) {
    const auto name = names.find(var);
    return name == names.end() ? Expr() : name->second;
  });
}

// What a loop does, if that is a single operation.
const TileOp* OnlyOp(const For& loop) {
  return loop.body.size() == 1 ? std::get_if<TileOp>(&loop.body[0].node)
                               : nullptr;
}

// Whether `first` sets to the identity what `next` combines over the same
// lanes, element by element, and neither does anything else.
bool SetsWhatCombines(const Stmt& first, const Stmt& next) {
  const auto* sets = std::get_if<For>(&first.node);
  const auto* loop = std::get_if<For>(&next.node);
  if (sets == nullptr || loop == nullptr || !loop->place.combines ||
      sets->kind != loop->kind || sets->extent != loop->extent ||
      sets->place.stride != loop->place.stride)
    return false;
  const TileOp *init = OnlyOp(*sets), *update = OnlyOp(*loop);
  if (init == nullptr || update == nullptr ||
      init->phase != TileOp::Phase::kInit || init->dst != update->dst ||
      init->box.size() != update->box.size())
    return false;
  std::map<int, Expr> names;
  for (size_t i = 0; i < init->box.size(); ++i) {
    const TileAxis& axis = update->box[i];
    if (init->box[i].extent != axis.extent) return false;
    names.emplace(init->box[i].var, Expr::Var(axis.var, axis.name));
  }
  std::vector<Expr> set = Conjuncts(init->predicate), combined;
  for (Expr& condition : set) condition = Renamed(condition, names);
  for (const Expr& condition : Conjuncts(update->predicate))
    if (!Mentions(condition, loop->var)) combined.push_back(condition);
  std::vector<Expr> index;
  for (const Expr& of_dim : init->index)
    index.push_back(Renamed(of_dim, names));
  return set == combined && index == update->index;
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
    for (size_t i = 0; i < stmts.size(); ++i) {
      const Stmt& stmt = stmts[i];
      if (i + 1 < stmts.size() && SetsWhatCombines(stmt, stmts[i + 1])) {
        begins_ = true;
      } else if (const auto* loop = std::get_if<For>(&stmt.node)) {
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
    const Combiner combiner = *op.combiner;
    op.body = {Expr::Load(terms, kernel_.buffers[terms].dtype, index)};
    if (std::exchange(begins_, false)) {
      op.phase = TileOp::Phase::kMap;
      op.body = combiner.Combine(combiner.Identity(), op.body);
      op.combiner = std::nullopt;
    }
    // Elements that only the terms leave out leave the accumulator as it is.
    std::vector<Expr> spatial;
    for (const Expr& condition : Conjuncts(op.predicate)) {
      if (!Mentions(condition, lanes.var)) spatial.push_back(condition);
    }
    op.predicate = Conjunction(spatial);
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
  // Whether the next operation that combines gives its elements their first
  // value: the identity and all terms at once, in one store.
  bool begins_ = false;
};

}  // namespace

CombinedLanes CombineLanes(Kernel& kernel) {
  Splitter splitter(kernel);
  kernel.body = splitter.Process(std::move(kernel.body));
  return std::move(splitter).Take();
}

}  // namespace tilewright::lowering
