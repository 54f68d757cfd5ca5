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
// alone. Where that does not fit either, what rarely runs keeps its predicates,
// and the smallest stages are cut first: else the borders of the first stage
// would leave the interior of the others masked.
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

#include "absl/types/span.h"
#include "backends/lowering/tile/lower.h"
#include "backends/lowering/tile/register_runs.h"
#include "backends/lowering/tile/tail_cuts.h"
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

// One task or step in so many, or fewer, are rare.
constexpr int64_t kRareShare = 16;

enum class Growth : uint8_t {
  kTogether,  // all stages have the same branches
  kApart,     // each has its own
  kFrugal,    // likewise, and none of it for what rarely runs
};

class Partitioner {
 public:
  Partitioner(Kernel& kernel, int max_statements, Growth growth)
      : kernel_(kernel),
        num_vars_(kernel.num_vars),
        budget_(max_statements - CountStmts(kernel.body)),
        growth_(growth) {}

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
      const std::optional<Range> range = scope().Of(var);
      if (!loops || !range.has_value() || range->min == range->max) continue;
      const std::optional<Range> interior = cuts_.Interior(var, *range, body);
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
    for (const auto& [var, range] : inside) scope().Set(var, range);
    branch.then_body = Process(std::move(body));
    for (const auto& [var, range] : whole) scope().Set(var, range);
    branch.else_body = Process(std::move(copy));
    std::vector<Stmt> out;
    if (!branch.then_body.empty() || !branch.else_body.empty())
      out.push_back({std::move(branch)});
    return out;
  }

  // Room for `copies` more of `body`? Takes it if so.
  bool Afford(int copies, const std::vector<Stmt>& body) {
    if (rare_) return false;
    const int cost = copies * (CountStmts(body) + 1);
    had_room_ &= cost <= budget_;
    if (cost > budget_) return false;
    budget_ -= cost;
    return true;
  }

  // Cuts the box where a predicate over several of its axes asks for it.
  void ProcessOp(TileOp op, std::vector<Stmt>& out) {
    if (!SimplifyOp(op, scope())) return;
    for (size_t next = 0; op.predicate && next < op.box.size(); ++next) {
      const TileAxis axis = op.box[next];
      // Seen from this axis, the others are further in.
      TileOp rest = op;
      rest.box.erase(rest.box.begin() + next);
      const std::vector<Stmt> whole = {Stmt{std::move(rest)}};
      std::vector<int64_t> cuts =
          cuts_.Of(axis.var, {0, axis.extent - 1}, whole);
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
    if (loop.kind != For::Kind::kThread) cuts = cuts_.OfLoop(loop);
    if (cuts.empty() || !Afford(static_cast<int>(cuts.size()), loop.body)) {
      scope().Set(loop.var, {0, loop.extent - 1});
      names_[loop.var] = loop.name;
      loop.body = ProcessGuarded(std::move(loop.body), {loop.var});
      scope().Forget(loop.var);
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
        scope().Set(piece.var, {0, piece.extent - 1});
        names_[piece.var] = piece.name;
        piece.body = ProcessGuarded(std::move(body), {piece.var});
        scope().Forget(piece.var);
        if (!piece.body.empty()) out.push_back({std::move(piece)});
      }
      begin = end;
    }
  }

  // Task loops nest perfectly; the branches stand inside the innermost one, or
  // inside the loop over the steps of a task.
  void ProcessTasks(For loop, std::vector<int> outer, std::vector<Stmt>& out) {
    scope().Set(loop.var, {0, loop.extent - 1});
    extents_[loop.var] = loop.extent;
    outer.push_back(loop.var);
    names_[loop.var] = loop.name;
    std::vector<Stmt> body;
    For* inner =
        loop.body.size() == 1 ? std::get_if<For>(&loop.body[0].node) : nullptr;
    if (inner != nullptr &&
        (inner->kind == For::Kind::kTask || HoldsStages(*inner))) {
      ProcessTasks(std::move(*inner), outer, body);
    } else if (growth_ != Growth::kTogether) {
      body = StageBranches(std::move(loop.body), outer);
    } else {
      body = Branches(std::move(loop.body), outer, 0);
    }
    loop.body = std::move(body);
    scope().Forget(loop.var);
    if (!loop.body.empty()) out.push_back({std::move(loop)});
  }

  // Cuts the stages one by one, the smallest first where room is short.
  std::vector<Stmt> StageBranches(std::vector<Stmt> body,
                                  const std::vector<int>& vars) {
    std::vector<std::vector<Stmt>> stages;
    std::vector<size_t> order;
    auto begin = std::make_move_iterator(body.begin());
    size_t done = 0;
    for (const size_t end : EndsOfRegisterRuns(kernel_.buffers, body)) {
      order.push_back(stages.size());
      stages.emplace_back(begin + done, begin + end);
      done = end;
    }
    if (growth_ == Growth::kFrugal) {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return CountStmts(stages[a]) < CountStmts(stages[b]);
      });
    }
    for (const size_t i : order)
      stages[i] = Branches(std::move(stages[i]), vars, 0);
    std::vector<Stmt> out;
    for (std::vector<Stmt>& stage : stages) AppendTo(out, std::move(stage));
    return out;
  }

  // Whether stages that are cut apart follow each other in it.
  bool HoldsStages(const For& loop) const {
    if (growth_ == Growth::kTogether || loop.kind != For::Kind::kSerial)
      return false;
    return EndsOfRegisterRuns(kernel_.buffers, loop.body).size() > 1;
  }

  // Cuts the task variables from number `next` on.
  std::vector<Stmt> Branches(std::vector<Stmt> body,
                             const std::vector<int>& vars, size_t next) {
    if (next == vars.size()) return ProcessGuarded(std::move(body), vars);
    const int var = vars[next];
    const Range whole = *scope().Of(var);
    if (whole.min == whole.max) {
      SubstituteStmts(body, {{var, Expr::Int(whole.min)}});
      return Branches(std::move(body), vars, next + 1);
    }
    const std::vector<int64_t> cuts =
        cuts_.Of(var, whole, body, absl::MakeConstSpan(vars).subspan(next));
    if (cuts.empty() || !Afford(1, body))
      return Branches(std::move(body), vars, next + 1);
    const int64_t cut = Best(cuts, whole);
    If branch;
    branch.condition =
        Expr::Make(Op::kLt, {Expr::Var(var, names_[var]), Expr::Int(cut)});
    branch.else_body = CloneStmts(body, {}, num_vars_);
    branch.then_body = std::move(body);
    const auto process = [&](std::vector<Stmt>& piece, Range range) {
      const bool outer_rare = rare_;
      rare_ |= growth_ == Growth::kFrugal &&
               kRareShare * (range.max - range.min + 1) <= extents_[var];
      scope().Set(var, range);
      piece = Branches(std::move(piece), vars, next);
      rare_ = outer_rare;
    };
    process(branch.then_body, {whole.min, cut - 1});
    process(branch.else_body, {cut, whole.max});
    scope().Set(var, whole);
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

  Scope& scope() { return cuts_.scope(); }

  const Kernel& kernel_;
  int& num_vars_;
  int budget_;
  const Growth growth_;
  bool had_room_ = true;
  bool rare_ = false;               // what is looked at rarely runs
  std::map<int, int64_t> extents_;  // of loops over tasks and steps
  TailCuts cuts_;
  std::map<int, std::string> names_;  // of variables in scope
};

}  // namespace

void PartitionTails(Kernel& kernel, int max_statements) {
  const Kernel whole = kernel;
  for (const Growth growth :
       {Growth::kTogether, Growth::kApart, Growth::kFrugal}) {
    kernel = whole;
    Partitioner partitioner(kernel, max_statements, growth);
    kernel.body = partitioner.Process(std::move(kernel.body));
    if (partitioner.had_room()) return;
  }
}

}  // namespace tilewright::lowering
