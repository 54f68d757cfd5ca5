#include "tilegraph/interpret/interpreter_program.h"

#include <unordered_map>

#include "base/check.h"

namespace tilewright {
namespace {

struct HashExpr {
  size_t operator()(const Expr& expr) const { return expr.hash(); }
};

Register Constant(const Expr& constant) {
  Register value;
  if (IsFloat(constant.dtype())) {
    value.f = constant.float_value();
  } else {
    value.i = constant.int_value();
  }
  return value;
}

// Accumulator `i` as an operand of the combiner: a load from a tensor that does
// not exist.
Expr AccumulatorLeaf(int i, DType dtype) {
  return Expr::Load(-1 - i, dtype, {});
}

Code CodeFor(Op op, DType dtype) {
  if (IsFloat(dtype)) {
    switch (op) {
      case Op::kAdd:
        return Code::kAddF;
      case Op::kSub:
        return Code::kSubF;
      case Op::kMul:
        return Code::kMulF;
      case Op::kDiv:
        return Code::kDivF;
      case Op::kNeg:
        return Code::kNegF;
      default:
        return Code::kOther;
    }
  }
  if (dtype == DType::kBool && op == Op::kAnd) return Code::kAnd;
  if (dtype == DType::kBool && op == Op::kOr) return Code::kOr;
  if (dtype != DType::kInt64) return Code::kOther;
  switch (op) {
    case Op::kAdd:
      return Code::kAddI;
    case Op::kSub:
      return Code::kSubI;
    case Op::kMul:
      return Code::kMulI;
    case Op::kEq:
      return Code::kEqI;
    case Op::kNe:
      return Code::kNeI;
    case Op::kLt:
      return Code::kLtI;
    case Op::kLe:
      return Code::kLeI;
    case Op::kGt:
      return Code::kGtI;
    case Op::kGe:
      return Code::kGeI;
    default:
      return Code::kOther;
  }
}

class Compiler {
 public:
  Compiler(const TensorGraph& graph, TensorId id)
      : graph_(graph), id_(id), compute_(graph.tensor(id).compute) {}

  InterpreterProgram Run() {
    AddAxes(compute_.axes);
    program_.num_spatial = program_.num_axes;
    AddAxes(compute_.reduce_axes);
    program_.result = compute_.result;
    std::vector<Expr> values = compute_.body;
    if (compute_.combiner.has_value())
      values = Accumulate(*compute_.combiner, values);
    program_.result_dtype = values[compute_.result].dtype();
    for (const Expr& value : values) program_.results.push_back(Compile(value));
    return std::move(program_);
  }

 private:
  void AddAxes(const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
      program_.extents.push_back(axis.extent.value());
      NewRegister();
      ++program_.num_axes;
    }
  }

  std::vector<Expr> Accumulate(const Combiner& combiner,
                               const std::vector<Expr>& body) {
    std::vector<Expr> accumulators;
    program_.num_accumulators = combiner.arity();
    const std::vector<Expr> identity = combiner.Identity();
    for (int i = 0; i < combiner.arity(); ++i) {
      const DType dtype = combiner.component_dtype(i);
      accumulators.push_back(AccumulatorLeaf(i, dtype));
      program_.initial[NewRegister()] = Constant(identity[i]);
    }
    return combiner.Combine(accumulators, body);
  }

  int NewRegister() {
    program_.initial.push_back(Register{});
    return static_cast<int>(program_.initial.size()) - 1;
  }

  int Emit(Instruction instruction) {
    instruction.result = NewRegister();
    program_.code.push_back(instruction);
    return instruction.result;
  }

  // The register that holds `expr`; the same expression is computed once where
  // it is known to have been computed.
  int Compile(const Expr& expr) {
    if (expr.op() == Op::kVar) {
      TW_CHECK(expr.var_id() >= 0 && expr.var_id() < program_.num_axes)
          << "no axis " << expr.ToString();
      return expr.var_id();
    }
    if (expr.op() == Op::kLoad && expr.source() < 0)
      return program_.num_axes + (-1 - expr.source());
    if (const auto found = known_.find(expr); found != known_.end())
      return found->second;
    const int result = CompileNew(expr);
    known_.emplace(expr, result);
    order_.push_back(expr);
    return result;
  }

  int CompileNew(const Expr& expr) {
    switch (expr.op()) {
      case Op::kConst: {
        const int result = NewRegister();
        program_.initial[result] = Constant(expr);
        return result;
      }
      case Op::kLoad:
        return CompileLoad(expr);
      case Op::kSelect:
        return CompileSelect(expr);
      default:
        break;
    }
    const absl::Span<const Expr> operands = expr.operands();
    Instruction instruction{CodeFor(expr.op(), operands[0].dtype())};
    instruction.op = expr.op();
    instruction.dtype = expr.dtype();
    instruction.operand_dtype = operands[0].dtype();
    instruction.a = Compile(operands[0]);
    if (operands.size() > 1) instruction.b = Compile(operands[1]);
    return Emit(instruction);
  }

  int CompileLoad(const Expr& expr) {
    TW_CHECK(expr.source() < id_) << graph_.tensor(id_).name << " loads tensor "
                                  << expr.source() << ", which is not earlier";
    const std::vector<int64_t> shape =
        graph_.tensor(expr.source()).static_shape();
    TW_CHECK_EQ(shape.size(), expr.operands().size())
        << "indices of " << expr.ToString();
    LoadSite site;
    site.tensor = expr.source();
    site.extents = shape;
    site.strides.assign(shape.size(), 1);
    for (int d = static_cast<int>(shape.size()) - 2; d >= 0; --d)
      site.strides[d] = site.strides[d + 1] * shape[d + 1];
    for (const Expr& index : expr.operands())
      site.indices.push_back(Compile(index));
    program_.loads.push_back(std::move(site));
    Instruction instruction{Code::kLoad};
    instruction.b = static_cast<int>(program_.loads.size()) - 1;
    return Emit(instruction);
  }

  // Only the branch taken runs, so nothing computed inside one is known after
  // it.
  int CompileSelect(const Expr& expr) {
    const int result = NewRegister();
    const int condition = Compile(expr.operand(0));
    const int to_else = Here();
    program_.code.push_back(Instruction{Code::kJumpIfFalse});
    program_.code.back().a = condition;
    CompileBranch(expr.operand(1), result);
    const int to_end = Here();
    program_.code.push_back(Instruction{Code::kJump});
    program_.code[to_else].c = Here();
    CompileBranch(expr.operand(2), result);
    program_.code[to_end].c = Here();
    return result;
  }

  void CompileBranch(const Expr& expr, int result) {
    const size_t known_before = order_.size();
    Instruction move{Code::kMove};
    move.a = Compile(expr);
    move.result = result;
    program_.code.push_back(move);
    for (; order_.size() > known_before; order_.pop_back())
      known_.erase(order_.back());
  }

  int Here() const { return static_cast<int>(program_.code.size()); }

  const TensorGraph& graph_;
  const TensorId id_;
  const Compute& compute_;
  InterpreterProgram program_;
  std::unordered_map<Expr, int, HashExpr> known_;
  std::vector<Expr> order_;  // of insertion into known_
};

}  // namespace

InterpreterProgram CompileProgram(const TensorGraph& graph, TensorId id) {
  return Compiler(graph, id).Run();
}

}  // namespace tilewright
