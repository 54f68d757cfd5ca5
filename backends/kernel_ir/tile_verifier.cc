#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/tile_ir.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/integer_op.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::kernel_ir {
namespace {

// "var < bound" (below) or "var >= bound".
struct VarBound {
  int var;
  bool below;
  int64_t bound;
};
std::optional<VarBound> AsVarBound(const Expr& e) {
  if (e.op() != Op::kLt && e.op() != Op::kGe) return std::nullopt;
  if (e.operand(0).op() != Op::kVar || e.operand(1).op() != Op::kConst)
    return std::nullopt;
  return VarBound{e.operand(0).var_id(), e.op() == Op::kLt,
                  e.operand(1).int_value()};
}

int64_t Evaluate(const Expr& e, const std::map<int, int64_t>& values) {
  if (e.op() == Op::kConst) return e.int_value();
  if (e.op() == Op::kVar) return values.at(e.var_id());
  const int64_t a = Evaluate(e.operand(0), values),
                b = Evaluate(e.operand(1), values);
  return EvaluateIntegerOp(e.op(), DType::kInt64, a, b);
}

// The exact range, if the expression is index arithmetic over variables that
// take at most a million values together.
std::optional<Range> RangeByTrial(const Expr& index, const RangeOf& ranges) {
  constexpr int64_t kMaxPoints = 1 << 20;
  std::map<int, int64_t> values;
  int64_t points = 1;
  bool known = true;
  Visit(index, [&](const Expr& e) {
    if (e.op() == Op::kVar) {
      const std::optional<Range> r = ranges(e.var_id());
      if (!r.has_value()) {
        known = false;
      } else if (values.emplace(e.var_id(), r->min).second &&
                 points <= kMaxPoints) {
        points *= std::min(kMaxPoints + 1, r->max - r->min + 1);
      }
    } else if (e.op() != Op::kConst && e.op() != Op::kAdd &&
               e.op() != Op::kSub && e.op() != Op::kMul &&
               e.op() != Op::kFloorDiv && e.op() != Op::kFloorMod &&
               e.op() != Op::kMax && e.op() != Op::kMin) {
      known = false;
    }
  });
  if (!known || points > kMaxPoints) return std::nullopt;
  Range found{std::numeric_limits<int64_t>::max(),
              std::numeric_limits<int64_t>::min()};
  while (true) {
    const int64_t v = Evaluate(index, values);
    found = {std::min(found.min, v), std::max(found.max, v)};
    auto it = values.begin();
    for (; it != values.end(); ++it) {
      if (++it->second <= ranges(it->first)->max) break;
      it->second = ranges(it->first)->min;
    }
    if (it == values.end()) return found;
  }
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : k_(kernel) {}

  absl::Status Run() {
    for (size_t i = 0; i < k_.buffers.size(); ++i) {
      const Buffer& b = k_.buffers[i];
      if (b.id != static_cast<int>(i))
        return Fault(
            absl::StrCat("buffer ", b.name, " has id ", b.id, " at place ", i));
      if ((b.role == Role::kLocal) != (b.level != Level::kGlobal)) {
        return Fault(absl::StrCat(
            "buffer ", b.name, ": exactly the buffers below global are local"));
      }
      if (b.role != Role::kLocal && i > 0 &&
          k_.buffers[i - 1].role == Role::kLocal) {
        return Fault(
            absl::StrCat("argument ", b.name, " stands after local buffers"));
      }
    }
    ranges_.assign(k_.num_vars, std::nullopt);
    defined_.assign(k_.num_vars, false);
    written_.assign(k_.buffers.size(), false);
    return Body(k_.body, /*outermost=*/true);
  }

 private:
  absl::Status Fault(const std::string& what) const {
    return absl::InternalError(absl::StrCat(
        "tile kernel ", k_.name, ": statement ", position_, ": ", what));
  }
  RangeOf Ranges() const {
    return [this](int var) -> std::optional<Range> {
      return var >= 0 && var < static_cast<int>(ranges_.size()) ? ranges_[var]
                                                                : std::nullopt;
    };
  }

  absl::Status Define(int var, int64_t extent, const std::string& name) {
    if (var < 0 || var >= k_.num_vars)
      return Fault(absl::StrCat("variable ", var, " (", name,
                                ") is not below num_vars"));
    if (defined_[var])
      return Fault(
          absl::StrCat("variable ", var, " (", name, ") is defined twice"));
    if (extent < 1)
      return Fault(
          absl::StrCat("variable ", var, " (", name, ") has extent ", extent));
    defined_[var] = true;
    ranges_[var] = Range{0, extent - 1};
    return absl::OkStatus();
  }

  absl::Status Body(const std::vector<Stmt>& body, bool outermost) {
    for (const Stmt& stmt : body) {
      ++position_;
      if (const For* loop = std::get_if<For>(&stmt.node)) {
        const bool task = loop->kind == For::Kind::kTask;
        if (task && (!outermost || body.size() != 1)) {
          return Fault(absl::StrCat("task loop ", loop->name,
                                    " is not outermost and perfectly nested"));
        }
        TW_RETURN_IF_ERROR(Define(loop->var, loop->extent, loop->name));
        if (loop->kind == For::Kind::kThread)
          TW_RETURN_IF_ERROR(Threads(*loop));
        TW_RETURN_IF_ERROR(Body(loop->body, outermost && task));
        ranges_[loop->var] = std::nullopt;
      } else if (const If* branch = std::get_if<If>(&stmt.node)) {
        TW_RETURN_IF_ERROR(Branch(*branch));
      } else {
        TW_RETURN_IF_ERROR(Tile(std::get<TileOp>(stmt.node)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Threads(const For& loop) const {
    const For::Place& place = loop.place;
    if (place.stride < 1 || place.wraps < 0 ||
        (place.wraps > 0 && loop.extent > place.wraps) ||
        loop.extent > k_.threads / place.stride)
      return Fault(absl::StrCat("thread loop ", loop.name, " is not of the ",
                                k_.threads, " threads"));
    if (!place.combines) return absl::OkStatus();
    const TileOp* op = loop.body.size() == 1
                           ? std::get_if<TileOp>(&loop.body[0].node)
                           : nullptr;
    if (op == nullptr || op->phase != TileOp::Phase::kUpdate ||
        op->dst.size() != 1 || (loop.extent & (loop.extent - 1)) != 0)
      return Fault(absl::StrCat("thread loop ", loop.name,
                                " combines what is no update of one value"));
    for (const Expr& index : op->index) {
      if (Mentions(index, loop.var))
        return Fault(
            absl::StrCat("thread loop ", loop.name, " moves what it combines"));
    }
    return absl::OkStatus();
  }

  absl::Status Branch(const If& branch) {
    TW_RETURN_IF_ERROR(Value(branch.condition, guarded_));
    const Expr& c = branch.condition;
    if (c.dtype() != DType::kBool) return Fault("a condition that is not bool");
    // Bounds on single variables narrow them; any other condition is trusted to
    // guard what stands under it.
    const std::vector<std::optional<Range>> outer = ranges_;
    const bool outer_guarded = guarded_;
    const int understood = Narrow(c);
    if (understood == 0) guarded_ = true;
    TW_RETURN_IF_ERROR(Body(branch.then_body, false));
    ranges_ = outer;
    if (understood == 1) {
      const VarBound bound = *AsVarBound(c);
      Range& range = *ranges_[bound.var];
      range = bound.below ? Range{bound.bound, range.max}
                          : Range{range.min, bound.bound - 1};
    }
    TW_RETURN_IF_ERROR(Body(branch.else_body, false));
    ranges_ = outer;
    guarded_ = outer_guarded;
    return absl::OkStatus();
  }
  // Narrows the variables that the conjuncts of `condition` bound; how many
  // there are, 0 if any is not understood.
  int Narrow(const Expr& condition) {
    if (condition.op() == Op::kAnd) {
      const int a = Narrow(condition.operand(0)),
                b = Narrow(condition.operand(1));
      return a == 0 || b == 0 ? 0 : a + b;
    }
    const std::optional<VarBound> bound = AsVarBound(condition);
    if (!bound.has_value()) return 0;
    Range& range = *ranges_[bound->var];
    if (bound->below) range.max = std::min(range.max, bound->bound - 1);
    if (!bound->below) range.min = std::max(range.min, bound->bound);
    return 1;
  }

  // `guarded`: some select or predicate decides whether this is evaluated.
  absl::Status Value(const Expr& e, bool guarded) {
    if (e.op() == Op::kVar) {
      if (e.var_id() < 0 || e.var_id() >= k_.num_vars ||
          !ranges_[e.var_id()].has_value()) {
        return Fault(absl::StrCat("variable ", e.var_id(), " (", e.var_name(),
                                  ") is out of scope"));
      }
      return absl::OkStatus();
    }
    if (e.op() == Op::kSelect) {
      TW_RETURN_IF_ERROR(Value(e.operand(0), guarded));
      TW_RETURN_IF_ERROR(Value(e.operand(1), true));
      return Value(e.operand(2), true);
    }
    for (const Expr& operand : e.operands())
      TW_RETURN_IF_ERROR(Value(operand, guarded));
    if (e.op() != Op::kLoad) return absl::OkStatus();
    if (e.source() < 0 || e.source() >= static_cast<int>(k_.buffers.size())) {
      return Fault(absl::StrCat("buffer ", e.source(), " does not exist"));
    }
    const Buffer& b = k_.buffers[e.source()];
    if (e.dtype() != b.dtype) {
      return Fault(absl::StrCat("a ", std::string(Name(e.dtype())), " load of ",
                                b.name, ", which is ",
                                std::string(Name(b.dtype))));
    }
    if (b.role == Role::kLocal && !written_[b.id])
      return Fault(
          absl::StrCat("local ", b.name, " is read before it is written"));
    return Index(b, {e.operands().begin(), e.operands().end()}, guarded);
  }

  absl::Status Index(const Buffer& b, const std::vector<Expr>& index,
                     bool guarded) const {
    const std::vector<int64_t>& shape = b.layout.shape();
    if (index.size() != shape.size()) {
      return Fault(absl::StrCat(b.name, " has ", shape.size(),
                                " dimensions and ", index.size(), " indices"));
    }
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d].dtype() != DType::kInt64)
        return Fault(absl::StrCat("index ", d, " of ", b.name, " is not i64"));
      if (guarded) continue;
      std::optional<Range> range = RangeOfExpr(index[d], Ranges());
      const int64_t min = -b.layout.pad_before()[d],
                    max = shape[d] + b.layout.pad_after()[d] - 1;
      if (!range.has_value() || range->min < min || range->max > max) {
        // Differences of floordivs and the like: intervals see no correlation,
        // trying all values does.
        const std::optional<Range> tried = RangeByTrial(index[d], Ranges());
        if (tried.has_value()) range = tried;
      }
      if (!range.has_value())
        return Fault(absl::StrCat("index ", d, " of ", b.name, " (",
                                  index[d].ToString(), ") has no bounds"));
      if (range->min < min || range->max > max) {
        return Fault(absl::StrCat(
            "index ", d, " of ", b.name, " (", index[d].ToString(), ") spans ",
            range->min, "..", range->max, ", outside ", min, "..", max));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Tile(const TileOp& op) {
    for (const TileAxis& axis : op.box)
      TW_RETURN_IF_ERROR(Define(axis.var, axis.extent, axis.name));
    const bool guarded = guarded_ || static_cast<bool>(op.predicate);
    if (op.predicate) {
      TW_RETURN_IF_ERROR(Value(op.predicate, guarded_));
      if (op.predicate.dtype() != DType::kBool)
        return Fault("a predicate that is not bool");
    }
    const bool reduces = op.phase != TileOp::Phase::kMap;
    if (reduces != op.combiner.has_value())
      return Fault("exactly init and update have a combiner");
    const int components = reduces ? op.combiner->arity() : 1;
    const int bodies = op.phase == TileOp::Phase::kInit ? 0 : components;
    if (static_cast<int>(op.dst.size()) != components ||
        static_cast<int>(op.body.size()) != bodies) {
      return Fault(absl::StrCat(op.dst.size(), " destinations and ",
                                op.body.size(), " bodies, not ", components,
                                " and ", bodies));
    }
    for (const Expr& body : op.body) TW_RETURN_IF_ERROR(Value(body, guarded));
    for (const Expr& index : op.index)
      TW_RETURN_IF_ERROR(Value(index, guarded));
    for (int i = 0; i < components; ++i) {
      if (op.dst[i] < 0 || op.dst[i] >= static_cast<int>(k_.buffers.size()))
        return Fault(absl::StrCat("buffer ", op.dst[i], " does not exist"));
      const Buffer& b = k_.buffers[op.dst[i]];
      if (b.role == Role::kInput || b.role == Role::kConstant)
        return Fault(absl::StrCat("a store to the input ", b.name));
      if (reduces && b.dtype != op.combiner->component_dtype(i)) {
        return Fault(absl::StrCat(
            "accumulator ", b.name, " is ", std::string(Name(b.dtype)),
            ", not ", std::string(Name(op.combiner->component_dtype(i)))));
      }
      if (op.phase == TileOp::Phase::kUpdate && !written_[b.id])
        return Fault(
            absl::StrCat(b.name, " is updated before it is initialised"));
      TW_RETURN_IF_ERROR(Index(b, op.index, guarded));
    }
    for (int dst : op.dst) written_[dst] = true;
    for (const TileAxis& axis : op.box) ranges_[axis.var] = std::nullopt;
    return absl::OkStatus();
  }

  const Kernel& k_;
  int position_ = 0;
  bool guarded_ = false;  // under an If whose condition is not understood
  std::vector<std::optional<Range>> ranges_;  // of variables in scope
  std::vector<bool> defined_;
  std::vector<bool> written_;  // buffers, in program order
};

}  // namespace

absl::Status VerifyTileKernel(const Kernel& kernel) {
  return Verifier(kernel).Run();
}

}  // namespace tilewright::kernel_ir
