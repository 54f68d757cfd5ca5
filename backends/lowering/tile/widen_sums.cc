#include "backends/lowering/tile/widen_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/non_negative.h"
#include "tilegraph/expr/simplify.h"
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

// A condition `position <= last`, position being a sum of terms.
struct Edge {
  LinearForm position;  // without constant
  int64_t last;
  std::set<int> vars;
};

std::optional<Edge> AsEdge(const Expr& condition, const RangeOf& ranges) {
  const std::optional<LinearForm> form = AsNonNegative(condition, ranges);
  if (!form || form->terms.empty()) return std::nullopt;
  Edge edge{{}, form->constant, {}};
  for (const auto& [term, coefficient] : form->terms) {
    if (coefficient >= 0) return std::nullopt;
    edge.position.terms.emplace_back(term, -coefficient);
    Visit(term, [&](const Expr& e) {
      if (e.op() == Op::kVar) edge.vars.insert(e.var_id());
    });
  }
  return edge;
}

// How often the position stands in an index, whose other terms go into `rest`:
// 0 where they share variables; then nothing is known.
int64_t TimesIn(const LinearForm& index, const Edge& edge, LinearForm& rest) {
  int64_t times = 0;
  size_t found = 0;
  rest = {index.constant, {}};
  for (const auto& [term, coefficient] : index.terms) {
    const auto same = std::find_if(
        edge.position.terms.begin(), edge.position.terms.end(),
        [&, term = term](const auto& t) { return t.first == term; });
    if (same == edge.position.terms.end()) {
      if (MentionsAny(term, edge.vars)) return 0;
      rest.terms.emplace_back(term, coefficient);
      continue;
    }
    const int64_t here = coefficient / same->second;
    if (here * same->second != coefficient || (times != 0 && here != times))
      return 0;
    times = here;
    ++found;
  }
  return found == edge.position.terms.size() ? times : 0;
}

bool MentionsOutsideLoads(const Expr& e, const std::set<int>& vars) {
  if (e.op() == Op::kLoad) return false;
  if (e.op() == Op::kVar) return vars.count(e.var_id()) > 0;
  return std::any_of(
      e.operands().begin(), e.operands().end(),
      [&](const Expr& operand) { return MentionsOutsideLoads(operand, vars); });
}

class Widener {
 public:
  explicit Widener(Kernel& kernel)
      : kernel_(kernel), ranges_(kernel), range_of_(ranges_.ranges()) {
    Collect(kernel.body, /*combines=*/false);
  }

  void Run() {
    for (Buffer& buffer : kernel_.buffers) {
      if (buffer.role != Role::kLocal || buffer.level != Level::kRegisters ||
          !buffer.layout.is_row_major())
        continue;
      std::vector<TileOp*> writers;
      bool sums = true;
      for (const auto& [op, combines] : ops_) {
        if (std::count(op->dst.begin(), op->dst.end(), buffer.id) == 0)
          continue;
        writers.push_back(op);
        sums = sums && !combines && op->dst.size() == 1 &&
               op->phase != TileOp::Phase::kMap;
      }
      if (!sums) continue;
      for (size_t d = 0; d < buffer.layout.shape().size(); ++d)
        Widen(buffer, d, writers);
    }
  }

 private:
  void Collect(std::vector<Stmt>& stmts, bool combines) {
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        Collect(loop->body, combines || loop->place.combines);
      } else if (auto* branch = std::get_if<If>(&stmt.node)) {
        Collect(branch->then_body, combines);
        Collect(branch->else_body, combines);
      } else {
        ops_.emplace_back(&std::get<TileOp>(stmt.node), combines);
      }
    }
  }

  void Widen(Buffer& buffer, size_t dim, const std::vector<TileOp*>& writers) {
    std::vector<int64_t> shape = buffer.layout.shape();
    const int64_t extent = shape[dim];
    std::vector<TileOp> widened;
    for (const TileOp* op : writers) {
      const std::optional<Range> range = RangeOfExpr(op->index[dim], range_of_);
      if (!range || range->min < 0) return;
      shape[dim] = std::max(shape[dim], range->max + 1);
      widened.push_back(*op);
      if (range->max >= extent && !WidenOp(widened.back(), dim, extent)) return;
    }
    if (shape[dim] == extent) return;
    for (size_t i = 0; i < writers.size(); ++i)
      *writers[i] = std::move(widened[i]);
    buffer.layout = Layout::RowMajor(shape);
  }

  // Takes the condition away that keeps the operation before `extent` along the
  // dimension of its buffer.
  bool WidenOp(TileOp& op, size_t dim, int64_t extent) const {
    const LinearForm index = ToLinear(op.index[dim], range_of_);
    for (const Expr& condition : Conjuncts(op.predicate)) {
      const std::optional<Edge> edge = AsEdge(condition, range_of_);
      LinearForm rest;
      if (!edge) continue;
      const int64_t times = TimesIn(index, *edge, rest);
      const std::optional<Range> others = RangeOfExpr(rest.ToExpr(), range_of_);
      if (times < 1 || !others ||
          times * (edge->last + 1) + others->min < extent)
        continue;
      for (Expr& body : op.body) {
        if (!StopAt(*edge, body)) return false;
      }
      std::vector<Expr> kept;
      for (const Expr& other : Conjuncts(op.predicate))
        if (!Implies(*edge, other)) kept.push_back(other);
      op.predicate = Conjunction(kept);
      return true;
    }
    return false;
  }

  // Loads stay at the edge; false if the body depends on the position in
  // another way.
  bool StopAt(const Edge& edge, Expr& body) const {
    bool known = !MentionsOutsideLoads(body, edge.vars);
    const Expr stopped =
        Expr::Make(Op::kMin, {edge.position.ToExpr(), Expr::Int(edge.last)});
    body = Rewrite(body, [&](const Expr& e) -> Expr {
      if (e.op() != Op::kLoad) return Expr();
      std::vector<Expr> index;
      for (const Expr& along : e.operands()) {
        index.push_back(along);
        if (!MentionsAny(along, edge.vars)) continue;
        LinearForm rest;
        const int64_t times = TimesIn(ToLinear(along, range_of_), edge, rest);
        if (times == 0) {
          known = false;
          continue;
        }
        rest.terms.emplace_back(stopped, times);
        index.back() = Simplify(rest.ToExpr(), range_of_);
      }
      return Expr::Load(e.source(), e.dtype(), std::move(index));
    });
    return known;
  }

  // Whether the other condition holds wherever the edge's does.
  bool Implies(const Edge& edge, const Expr& other) const {
    const std::optional<LinearForm> form = AsNonNegative(other, range_of_);
    LinearForm rest;
    if (!form) return false;
    const int64_t times = TimesIn(*form, edge, rest);
    if (times >= 0) return false;
    const std::optional<Range> others = RangeOfExpr(rest.ToExpr(), range_of_);
    return others && others->min + times * edge.last >= 0;
  }

  Kernel& kernel_;
  const KernelRanges ranges_;
  const RangeOf range_of_;
  std::vector<std::pair<TileOp*, bool>> ops_;  // and whether lanes combine it
};

}  // namespace

void WidenSums(Kernel& kernel) {
  if (kernel.threads > 0) Widener(kernel).Run();
}

}  // namespace tilewright::lowering
