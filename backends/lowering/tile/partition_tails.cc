// Cuts loops where predicates become decided: inside [0, t) every predicate
// that depends on the loop holds, whatever the loops further in do; beyond t it
// may fail, or always fails. Each piece is simplified on its own, which is
// where predicates vanish and boxes shrink. Task loops cannot be cut (the tasks
// are one range), so their pieces are the branches of an If.
//
// Padding guards, selects in bodies, get one If as well: where all of them that
// a spatial loop decides hold, a copy without them.
//
// Copies multiply: a border task, in it a first row, in that a narrow end.
// Where there is no room for all of them, stages are cut apart: each gets
// branches of its own, for the tasks and steps that matter to it, and is copied
// alone.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/lowering/tile/decided_at.h"
#include "backends/lowering/tile/lower.h"
#include "backends/lowering/tile/register_runs.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// Iterations in a row that are cut one by one.
constexpr int64_t kMostUndecided = 8;

class Partitioner {
 public:
  Partitioner(Kernel& kernel, int max_statements, bool stages_apart)
      : kernel_(kernel),
        num_vars_(kernel.num_vars),
        budget_(max_statements - CountStmts(kernel.body)),
        stages_apart_(stages_apart) {}

  // Whether there was room for every copy that was asked for.
  bool had_room() const { return had_room_; }

  std::vector<Stmt> Process(std::vector<Stmt> stmts) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (For* loop = std::get_if<For>(&stmt.node)) {
        if (loop->place.combines) {
          out.push_back(std::move(stmt));
        } else if (loop->kind == For::Kind::kTask) {
          ProcessTasks(std::move(*loop), {}, out);
        } else {
          ProcessLoop(std::move(*loop), out);
        }
      } else if (If* branch = std::get_if<If>(&stmt.node)) {
        branch->then_body = Process(std::move(branch->then_body));
        branch->else_body = Process(std::move(branch->else_body));
        out.push_back(std::move(stmt));
      } else {
        ProcessOp(std::move(std::get<TileOp>(stmt.node)), out);
      }
    }
    return out;
  }

 private:
  static void AppendTo(std::vector<Stmt>& out, std::vector<Stmt> stmts) {
    for (Stmt& s : stmts) out.push_back(std::move(s));
  }

  // Where to cut `var`, ascending, inside (range.min, range.max].
  std::vector<int64_t> Cuts(int var, Range range,
                            const std::vector<Stmt>& body) {
    std::set<int64_t> cuts;
    ForEachOpInScope(body, [&](const TileOp& op) {
      for (const Expr& condition : Conjuncts(op.predicate)) {
        const std::optional<Decided> at = DecidedAt(var, condition);
        if (!at.has_value()) continue;
        for (int64_t t : {at->holds, at->fails}) {
          if (t > range.min && t <= range.max) cuts.insert(t);
        }
      }
    });
    return {cuts.begin(), cuts.end()};
  }
  // Cuts a loop also where boxes decide between these places, of other elements
  // in each iteration: a window's taps at a border. What is unrolled stands
  // side by side with the box, each step in its own place.
  std::vector<int64_t> LoopCuts(const For& loop) {
    const Range range = {0, loop.extent - 1};
    std::set<int64_t> cuts;
    ForEachOpInScope(loop.body, [&](const TileOp& op) {
      for (const Expr& condition : Conjuncts(op.predicate)) {
        const bool boxes = std::any_of(op.box.begin(), op.box.end(),
                                       [&](const TileAxis& axis) {
                                         return Mentions(condition, axis.var);
                                       });
        if (boxes && loop.kind == For::Kind::kUnroll) continue;
        const std::optional<Decided> at = DecidedAt(loop.var, condition);
        if (!at.has_value()) continue;
        const auto [least, most] = std::minmax(at->holds, at->fails);
        if (!boxes || most - least > kMostUndecided) {
          cuts.insert({least, most});
        } else {
          for (int64_t t = least; t <= most; ++t) cuts.insert(t);
        }
      }
    });
    return {cuts.upper_bound(range.min), cuts.upper_bound(range.max)};
  }
  // Calls `fn` with the ranges of all variables around the operation known, and
  // those inside `stmts` in inner_.
  void ForEachOpInScope(const std::vector<Stmt>& stmts,
                        const std::function<void(const TileOp&)>& fn) {
    for (const Stmt& stmt : stmts) {
      if (const For* loop = std::get_if<For>(&stmt.node)) {
        Enter(loop->var, loop->extent);
        ForEachOpInScope(loop->body, fn);
        Leave(loop->var);
      } else if (const If* branch = std::get_if<If>(&stmt.node)) {
        ForEachOpInScope(branch->then_body, fn);
        ForEachOpInScope(branch->else_body, fn);
      } else {
        const TileOp& op = std::get<TileOp>(stmt.node);
        for (const TileAxis& axis : op.box) Enter(axis.var, axis.extent);
        fn(op);
        for (const TileAxis& axis : op.box) Leave(axis.var);
      }
    }
  }
  void Enter(int var, int64_t extent) {
    inner_.insert(var);
    scope_.Set(var, {0, extent - 1});
  }
  void Leave(int var) {
    inner_.erase(var);
    scope_.Forget(var);
  }

  // The part of `range` in which every guard that `var` decides holds:
  // conditions of selects in operations for which `var` is spatial.
  std::optional<Range> Interior(int var, Range range,
                                const std::vector<Stmt>& body) {
    Range inside = range;
    ForEachOpInScope(body, [&](const TileOp& op) {
      if (std::none_of(op.index.begin(), op.index.end(),
                       [var](const Expr& e) { return Mentions(e, var); }))
        return;
      for (const Expr& e : op.body) {
        Visit(e, [&](const Expr& node) {
          if (node.op() != Op::kSelect) return;
          for (const Expr& condition : Conjuncts(node.operand(0))) {
            const std::optional<Decided> at = DecidedAt(var, condition);
            if (!at.has_value()) continue;
            if (at->rising && at->holds <= range.max)
              inside.min = std::max(inside.min, at->holds);
            if (!at->rising && at->holds > range.min)
              inside.max = std::min(inside.max, at->holds - 1);
          }
        });
      }
    });
    if (inside.min > inside.max ||
        (inside.min == range.min && inside.max == range.max))
      return std::nullopt;
    return inside;
  }
  // Processes `body`, once for the interior of `vars` and once for the rest, if
  // that takes a guard away from something that loops.
  std::vector<Stmt> ProcessGuarded(std::vector<Stmt> body,
                                   const std::vector<int>& vars) {
    bool loops = false;
    for (const Stmt& stmt : body) {
      const TileOp* op = std::get_if<TileOp>(&stmt.node);
      loops |= op == nullptr || !op->box.empty();
    }
    std::vector<Expr> conditions;
    std::map<int, Range> whole, inside;
    for (int var : vars) {
      const std::optional<Range> range = scope_.Of(var);
      if (!loops || !range.has_value() || range->min == range->max) continue;
      const std::optional<Range> interior = Interior(var, *range, body);
      if (!interior.has_value()) continue;
      whole[var] = *range;
      inside[var] = *interior;
      const Expr v = Expr::Var(var, names_[var]);
      if (interior->min > range->min)
        conditions.push_back(
            Expr::Make(Op::kGe, {v, Expr::Int(interior->min)}));
      if (interior->max < range->max)
        conditions.push_back(
            Expr::Make(Op::kLt, {v, Expr::Int(interior->max + 1)}));
    }
    if (conditions.empty() || !Afford(1, body)) return Process(std::move(body));
    If branch;
    branch.condition = Conjunction(conditions);
    std::vector<Stmt> copy = CloneStmts(body, {}, num_vars_);
    for (const auto& [var, range] : inside) scope_.Set(var, range);
    branch.then_body = Process(std::move(body));
    for (const auto& [var, range] : whole) scope_.Set(var, range);
    branch.else_body = Process(std::move(copy));
    std::vector<Stmt> out;
    if (!branch.then_body.empty() || !branch.else_body.empty())
      out.push_back({std::move(branch)});
    return out;
  }

  std::optional<Decided> DecidedAt(int var, const Expr& condition) {
    return lowering::DecidedAt(var, condition, scope_, inner_);
  }

  // Room for `copies` more of `body`? Takes it if so.
  bool Afford(int copies, const std::vector<Stmt>& body) {
    const int cost = copies * (CountStmts(body) + 1);
    had_room_ &= cost <= budget_;
    if (cost > budget_) return false;
    budget_ -= cost;
    return true;
  }

  // Cuts the box where a predicate over several of its axes asks for it.
  void ProcessOp(TileOp op, std::vector<Stmt>& out) {
    if (!SimplifyOp(op, scope_)) return;
    for (size_t next = 0; op.predicate && next < op.box.size(); ++next) {
      const TileAxis axis = op.box[next];
      // Seen from this axis, the others are further in.
      TileOp rest = op;
      rest.box.erase(rest.box.begin() + next);
      const std::vector<Stmt> whole = {Stmt{std::move(rest)}};
      std::vector<int64_t> cuts = Cuts(axis.var, {0, axis.extent - 1}, whole);
      if (cuts.empty() || !Afford(static_cast<int>(cuts.size()), whole))
        continue;
      cuts.push_back(axis.extent);
      int64_t begin = 0;
      for (int64_t end : cuts) {
        std::vector<Stmt> piece = CloneStmts({Stmt{op}}, {}, num_vars_);
        TileOp& part = std::get<TileOp>(piece[0].node);
        TileAxis& cut = part.box[next];
        cut.extent = end - begin;
        if (begin > 0) ShiftVar(part, cut, begin);
        ProcessOp(std::move(part), out);
        begin = end;
      }
      return;
    }
    out.push_back({std::move(op)});
  }

  void ProcessLoop(For loop, std::vector<Stmt>& out) {
    // Iterations of a thread loop belong to threads: it is not cut.
    std::vector<int64_t> cuts;
    if (loop.kind != For::Kind::kThread) cuts = LoopCuts(loop);
    if (cuts.empty() || !Afford(static_cast<int>(cuts.size()), loop.body)) {
      scope_.Set(loop.var, {0, loop.extent - 1});
      names_[loop.var] = loop.name;
      loop.body = ProcessGuarded(std::move(loop.body), {loop.var});
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
      piece.hints = loop.hints;
      piece.extent = end - begin;
      piece.var = num_vars_++;
      const Expr value = piece.extent == 1 ? Expr::Int(begin)
                                           : Expr::Var(piece.var, piece.name) +
                                                 Expr::Int(begin);
      std::vector<Stmt> body =
          CloneStmts(loop.body, {{loop.var, value}}, num_vars_);
      if (piece.extent == 1) {
        AppendTo(out, Process(std::move(body)));
      } else {
        scope_.Set(piece.var, {0, piece.extent - 1});
        names_[piece.var] = piece.name;
        piece.body = ProcessGuarded(std::move(body), {piece.var});
        scope_.Forget(piece.var);
        if (!piece.body.empty()) out.push_back({std::move(piece)});
      }
      begin = end;
    }
  }

  // Task loops nest perfectly; the branches stand inside the innermost one, or
  // inside the loop over the steps of a task.
  void ProcessTasks(For loop, std::vector<int> outer, std::vector<Stmt>& out) {
    scope_.Set(loop.var, {0, loop.extent - 1});
    outer.push_back(loop.var);
    names_[loop.var] = loop.name;
    std::vector<Stmt> body;
    For* inner =
        loop.body.size() == 1 ? std::get_if<For>(&loop.body[0].node) : nullptr;
    if (inner != nullptr &&
        (inner->kind == For::Kind::kTask || HoldsStages(*inner))) {
      ProcessTasks(std::move(*inner), outer, body);
    } else if (stages_apart_) {
      auto begin = std::make_move_iterator(loop.body.begin());
      size_t done = 0;
      for (const size_t end : EndsOfRegisterRuns(kernel_.buffers, loop.body)) {
        AppendTo(body, Branches({begin + done, begin + end}, outer, 0));
        done = end;
      }
    } else {
      body = Branches(std::move(loop.body), outer, 0);
    }
    loop.body = std::move(body);
    scope_.Forget(loop.var);
    if (!loop.body.empty()) out.push_back({std::move(loop)});
  }

  // Whether stages that are cut apart follow each other in it.
  bool HoldsStages(const For& loop) const {
    if (!stages_apart_ || loop.kind != For::Kind::kSerial) return false;
    return EndsOfRegisterRuns(kernel_.buffers, loop.body).size() > 1;
  }

  // Cuts the task variables from number `next` on.
  std::vector<Stmt> Branches(std::vector<Stmt> body,
                             const std::vector<int>& vars, size_t next) {
    if (next == vars.size()) return ProcessGuarded(std::move(body), vars);
    const int var = vars[next];
    const Range whole = *scope_.Of(var);
    if (whole.min == whole.max) {
      SubstituteStmts(body, {{var, Expr::Int(whole.min)}});
      return Branches(std::move(body), vars, next + 1);
    }
    for (size_t i = next; i < vars.size(); ++i) inner_.insert(vars[i]);
    const std::vector<int64_t> cuts = Cuts(var, whole, body);
    for (size_t i = next; i < vars.size(); ++i) inner_.erase(vars[i]);
    if (cuts.empty() || !Afford(1, body))
      return Branches(std::move(body), vars, next + 1);
    const int64_t cut = Best(cuts, whole);
    If branch;
    branch.condition =
        Expr::Make(Op::kLt, {Expr::Var(var, names_[var]), Expr::Int(cut)});
    std::vector<Stmt> copy = CloneStmts(body, {}, num_vars_);
    scope_.Set(var, {whole.min, cut - 1});
    branch.then_body = Branches(std::move(body), vars, next);
    scope_.Set(var, {cut, whole.max});
    branch.else_body = Branches(std::move(copy), vars, next);
    scope_.Set(var, whole);
    std::vector<Stmt> out;
    if (!branch.then_body.empty() || !branch.else_body.empty())
      out.push_back({std::move(branch)});
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

  const Kernel& kernel_;
  int& num_vars_;
  int budget_;
  const bool stages_apart_;
  bool had_room_ = true;
  Scope scope_;
  std::set<int>
      inner_;  // variables defined inside the loop that is being looked at
  std::map<int, std::string> names_;  // of variables in scope
};

}  // namespace

void PartitionTails(Kernel& kernel, int max_statements) {
  Kernel copy = kernel;
  Partitioner together(kernel, max_statements, /*stages_apart=*/false);
  kernel.body = together.Process(std::move(kernel.body));
  if (together.had_room()) return;
  Partitioner apart(copy, max_statements, /*stages_apart=*/true);
  copy.body = apart.Process(std::move(copy.body));
  kernel = std::move(copy);
}

}  // namespace tilewright::lowering
