// Cuts loops where predicates become decided: inside [0, t) every predicate that depends on the loop holds, whatever the loops
// further in do; beyond t it may fail, or always fails. Each piece is simplified on its own, which is where predicates vanish and boxes
// shrink. Task loops cannot be cut (the tasks are one range), so their pieces are the branches of an If.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/lowering/lower.h"
#include "backends/lowering/tile_rewrite.h"
#include "tilegraph/interval.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

class Partitioner {
 public:
  Partitioner(Kernel& kernel, int max_statements) : num_vars_(kernel.num_vars), budget_(max_statements - CountStmts(kernel.body)) {}

  std::vector<Stmt> Process(std::vector<Stmt> stmts) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (For* loop = std::get_if<For>(&stmt.node)) {
        if (loop->kind == For::Kind::kTask) {
          ProcessTasks(std::move(*loop), {}, out);
        } else {
          ProcessLoop(std::move(*loop), out);
        }
      } else if (If* branch = std::get_if<If>(&stmt.node)) {
        branch->then_body = Process(std::move(branch->then_body));
        branch->else_body = Process(std::move(branch->else_body));
        out.push_back(std::move(stmt));
      } else if (SimplifyOp(std::get<TileOp>(stmt.node), scope_)) {
        out.push_back(std::move(stmt));
      }
    }
    return out;
  }

 private:
  static void AppendTo(std::vector<Stmt>& out, std::vector<Stmt> stmts) {
    for (Stmt& s : stmts) out.push_back(std::move(s));
  }

  // Where to cut `var`, ascending, inside (range.min, range.max].
  std::vector<int64_t> Cuts(int var, Range range, const std::vector<Stmt>& body) {
    std::set<int64_t> cuts;
    CollectCuts(var, range, body, cuts);
    return {cuts.begin(), cuts.end()};
  }
  void CollectCuts(int var, Range range, const std::vector<Stmt>& stmts, std::set<int64_t>& cuts) {
    for (const Stmt& stmt : stmts) {
      if (const For* loop = std::get_if<For>(&stmt.node)) {
        inner_.insert(loop->var);
        scope_.Set(loop->var, {0, loop->extent - 1});
        CollectCuts(var, range, loop->body, cuts);
        scope_.Forget(loop->var);
        inner_.erase(loop->var);
      } else if (const If* branch = std::get_if<If>(&stmt.node)) {
        CollectCuts(var, range, branch->then_body, cuts);
        CollectCuts(var, range, branch->else_body, cuts);
      } else {
        const TileOp& op = std::get<TileOp>(stmt.node);
        for (const TileAxis& axis : op.box) {
          inner_.insert(axis.var);
          scope_.Set(axis.var, {0, axis.extent - 1});
        }
        for (const Expr& condition : Conjuncts(op.predicate)) CutAt(var, range, condition, cuts);
        for (const TileAxis& axis : op.box) {
          inner_.erase(axis.var);
          scope_.Forget(axis.var);
        }
      }
    }
  }
  void CutAt(int var, Range range, const Expr& condition, std::set<int64_t>& cuts) {
    std::optional<LinearForm> form = AsNonNegative(condition, scope_.ranges());
    if (!form.has_value()) return;
    const int64_t c = form->CoefficientOf(var);
    if (c == 0) return;
    LinearForm rest = *form;
    rest.terms.clear();
    for (const auto& term : form->terms) {
      if (term.first.op() == Op::kVar && term.first.var_id() == var) continue;
      if (Mentions(term.first, var)) return;
      rest.terms.push_back(term);
    }
    // A bound that moves with a loop further out is no place to cut.
    bool moves = false;
    Visit(rest.ToExpr(), [&](const Expr& e) { moves |= e.op() == Op::kVar && inner_.count(e.var_id()) == 0; });
    if (moves) return;
    const std::optional<Range> r = RangeOfExpr(rest.ToExpr(), scope_.ranges());
    if (!r.has_value()) return;
    // c > 0: holds from ceil(-min / c) on, fails below ceil(-max / c). c < 0: holds up to floor(min / -c), fails above floor(max / -c).
    const int64_t holds = c > 0 ? CeilDivide(-r->min, c) : FloorDivide(r->min, -c) + 1;
    const int64_t fails = c > 0 ? CeilDivide(-r->max, c) : FloorDivide(r->max, -c) + 1;
    for (int64_t t : {holds, fails}) {
      if (t > range.min && t <= range.max) cuts.insert(t);
    }
  }

  // Room for `copies` more of `body`? Takes it if so.
  bool Afford(int copies, const std::vector<Stmt>& body) {
    const int cost = copies * (CountStmts(body) + 1);
    if (cost > budget_) return false;
    budget_ -= cost;
    return true;
  }

  void ProcessLoop(For loop, std::vector<Stmt>& out) {
    std::vector<int64_t> cuts = Cuts(loop.var, {0, loop.extent - 1}, loop.body);
    if (cuts.empty() || !Afford(static_cast<int>(cuts.size()), loop.body)) {
      scope_.Set(loop.var, {0, loop.extent - 1});
      loop.body = Process(std::move(loop.body));
      scope_.Forget(loop.var);
      if (!loop.body.empty()) out.push_back({std::move(loop)});
      return;
    }
    cuts.push_back(loop.extent);
    int64_t begin = 0;
    for (int64_t end : cuts) {
      For piece;
      piece.name = loop.name;
      piece.kind = loop.kind;
      piece.extent = end - begin;
      piece.var = num_vars_++;
      const Expr value = piece.extent == 1 ? Expr::Int(begin) : Expr::Var(piece.var, piece.name) + Expr::Int(begin);
      std::vector<Stmt> body = CloneStmts(loop.body, {{loop.var, value}}, num_vars_);
      if (piece.extent == 1) {
        AppendTo(out, Process(std::move(body)));
      } else {
        scope_.Set(piece.var, {0, piece.extent - 1});
        piece.body = Process(std::move(body));
        scope_.Forget(piece.var);
        if (!piece.body.empty()) out.push_back({std::move(piece)});
      }
      begin = end;
    }
  }

  // Task loops nest perfectly; the branches stand inside the innermost one.
  void ProcessTasks(For loop, std::vector<int> outer, std::vector<Stmt>& out) {
    scope_.Set(loop.var, {0, loop.extent - 1});
    outer.push_back(loop.var);
    names_[loop.var] = loop.name;
    std::vector<Stmt> body;
    For* inner = loop.body.size() == 1 ? std::get_if<For>(&loop.body[0].node) : nullptr;
    if (inner != nullptr && inner->kind == For::Kind::kTask) {
      ProcessTasks(std::move(*inner), outer, body);
    } else {
      body = Branches(std::move(loop.body), outer, 0);
    }
    loop.body = std::move(body);
    scope_.Forget(loop.var);
    if (!loop.body.empty()) out.push_back({std::move(loop)});
  }

  // Cuts the task variables from number `next` on.
  std::vector<Stmt> Branches(std::vector<Stmt> body, const std::vector<int>& vars, size_t next) {
    if (next == vars.size()) return Process(std::move(body));
    const int var = vars[next];
    const Range whole = *scope_.Of(var);
    if (whole.min == whole.max) {
      SubstituteStmts(body, {{var, Expr::Int(whole.min)}});
      return Branches(std::move(body), vars, next + 1);
    }
    for (size_t i = next; i < vars.size(); ++i) inner_.insert(vars[i]);
    const std::vector<int64_t> cuts = Cuts(var, whole, body);
    for (size_t i = next; i < vars.size(); ++i) inner_.erase(vars[i]);
    if (cuts.empty() || !Afford(1, body)) return Branches(std::move(body), vars, next + 1);
    const int64_t cut = Best(cuts, whole);
    If branch;
    branch.condition = Expr::Make(Op::kLt, {Expr::Var(var, names_[var]), Expr::Int(cut)});
    std::vector<Stmt> copy = CloneStmts(body, {}, num_vars_);
    scope_.Set(var, {whole.min, cut - 1});
    branch.then_body = Branches(std::move(body), vars, next);
    scope_.Set(var, {cut, whole.max});
    branch.else_body = Branches(std::move(copy), vars, next);
    scope_.Set(var, whole);
    std::vector<Stmt> out;
    if (!branch.then_body.empty() || !branch.else_body.empty()) out.push_back({std::move(branch)});
    return out;
  }
  // The cut that leaves the longest piece; the others follow in its branches.
  static int64_t Best(const std::vector<int64_t>& cuts, Range range) {
    int64_t best = cuts[0], longest = 0;
    for (int64_t cut : cuts) {
      const int64_t piece = std::max(cut - range.min, range.max + 1 - cut);
      if (piece > longest) {
        longest = piece;
        best = cut;
      }
    }
    return best;
  }

  int& num_vars_;
  int budget_;
  Scope scope_;
  std::set<int> inner_;              // variables defined inside the loop that is being looked at
  std::map<int, std::string> names_;  // of task variables
};

}  // namespace

void PartitionTails(Kernel& kernel, int max_statements) {
  Partitioner partitioner(kernel, max_statements);
  kernel.body = partitioner.Process(std::move(kernel.body));
}

}  // namespace tilewright::lowering
