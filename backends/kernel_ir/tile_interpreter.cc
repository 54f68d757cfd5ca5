#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_code.h"
#include "backends/kernel_ir/tile_program.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/expr/integer_op.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::kernel_ir {
namespace {

struct Memory {
  const Buffer* buffer;
  char* data;
  std::string storage;           // of locals
  bool tracked;                  // outputs and locals
  std::vector<int32_t> written;  // per physical element: 1 + number of the task
                                 // that wrote it last, 0 never
  std::vector<int64_t> strides;  // per digit
};

struct PreparedOp {
  const TileOp* op = nullptr;
  TileProgram program;
  int predicate = -1;
  std::vector<int> index, body, combined;
  std::vector<Scalar> identity;
};

class Machine {
 public:
  explicit Machine(const Kernel& kernel)
      : k_(kernel), vars_(kernel.num_vars, 0) {}

  absl::Status Bind(absl::Span<std::string> args) {
    size_t next = 0;
    for (const Buffer& b : k_.buffers) {
      Memory m{&b, nullptr,
               "", b.role == Role::kLocal || b.role == Role::kOutput,
               {}, {}};
      const int64_t bytes = b.layout.physical_elements() * SizeBytes(b.dtype);
      if (b.role == Role::kLocal) {
        m.storage.assign(bytes, 0);
      } else {
        if (next == args.size())
          return absl::InvalidArgumentError(
              absl::StrCat("no argument for buffer ", b.name, " of ", k_.name));
        if (static_cast<int64_t>(args[next].size()) < bytes) {
          return absl::InvalidArgumentError(
              absl::StrCat("argument ", b.name, " of ", k_.name, " has ",
                           args[next].size(), " bytes, not ", bytes));
        }
        m.data = &args[next++][0];
      }
      if (m.tracked) m.written.assign(b.layout.physical_elements(), 0);
      for (size_t i = 0; i < b.layout.digits().size(); ++i)
        m.strides.push_back(b.layout.stride(i));
      memory_.push_back(std::move(m));
    }
    if (next != args.size())
      return absl::InvalidArgumentError(
          absl::StrCat(args.size(), " arguments for ", k_.name));
    for (Memory& m : memory_) {
      if (m.buffer->role == Role::kLocal) m.data = &m.storage[0];
    }
    return absl::OkStatus();
  }

  absl::Status Run() {
    task_mark_ = 1;
    Body(k_.body);
    return status_;
  }

 private:
  void Fail(const std::string& what) {
    if (!status_.ok()) return;
    std::string where;
    for (const auto& [name, value] : stack_)
      absl::StrAppend(&where, " ", *name, "=", value);
    static constexpr const char* kPhases[] = {"init", "update", "map"};
    const std::string op =
        running_ == nullptr
            ? "condition"
            : absl::StrCat(kPhases[static_cast<int>(running_->phase)], " of ",
                           k_.buffers[running_->dst[0]].name);
    status_ = absl::OutOfRangeError(absl::StrCat("tile kernel ", k_.name, ", ",
                                                 op, " at", where, ": ", what));
  }

  void Body(const std::vector<Stmt>& body) {
    for (const Stmt& stmt : body) {
      if (!status_.ok()) return;
      if (const For* loop = std::get_if<For>(&stmt.node)) {
        stack_.push_back({&loop->name, 0});
        if (loop->place.combines) {
          Combine(*loop, Prepare(std::get<TileOp>(loop->body[0].node)));
          stack_.pop_back();
          continue;
        }
        for (int64_t i = 0; i < loop->extent && status_.ok(); ++i) {
          if (loop->kind == For::Kind::kTask) ++task_mark_;
          vars_[loop->var] = i;
          stack_.back().second = i;
          Body(loop->body);
        }
        stack_.pop_back();
      } else if (const If* branch = std::get_if<If>(&stmt.node)) {
        running_ = nullptr;
        Body(Condition(*branch) ? branch->then_body : branch->else_body);
      } else {
        Tile(Prepare(std::get<TileOp>(stmt.node)));
      }
    }
  }

  bool Condition(const If& branch) {
    std::unique_ptr<PreparedOp>& p = prepared_[&branch];
    if (p == nullptr) {
      p = std::make_unique<PreparedOp>();
      p->predicate = p->program.Add(branch.condition);
    }
    return Eval(p->program, p->predicate).i != 0;
  }

  const PreparedOp& Prepare(const TileOp& op) {
    std::unique_ptr<PreparedOp>& p = prepared_[&op];
    if (p != nullptr) return *p;
    p = std::make_unique<PreparedOp>();
    p->op = &op;
    if (op.predicate) p->predicate = p->program.Add(op.predicate);
    for (const Expr& e : op.index) p->index.push_back(p->program.Add(e));
    for (const Expr& e : op.body) p->body.push_back(p->program.Add(e));
    if (op.phase != TileOp::Phase::kMap) {
      TileProgram constants;
      for (const Expr& e : op.combiner->Identity())
        p->identity.push_back(Eval(constants, constants.Add(e)));
    }
    if (op.phase == TileOp::Phase::kUpdate) {
      std::vector<Expr> a, b;
      for (int i = 0; i < op.combiner->arity(); ++i) {
        const DType dtype = op.combiner->component_dtype(i);
        a.push_back(Expr::Load(AccumulatorSlot(i), dtype, {}));
        const Expr body = Expr::Load(BodySlot(i), op.body[i].dtype(), {});
        b.push_back(body.dtype() == dtype ? body : Expr::Cast(dtype, body));
      }
      for (const Expr& e : op.combiner->Combine(a, b))
        p->combined.push_back(p->program.Add(e));
    }
    return *p;
  }

  void Tile(const PreparedOp& p) {
    ForEachElement(p, [&] { Element(p); });
  }

  // The update of what the lanes of a warp combine, in their tree.
  void Combine(const For& lanes, const PreparedOp& p) {
    ForEachElement(p, [&] { CombineElement(lanes, p); });
  }

  template <typename Fn>
  void ForEachElement(const PreparedOp& p, const Fn& fn) {
    const TileOp& op = *p.op;
    running_ = &op;
    for (const TileAxis& axis : op.box) vars_[axis.var] = 0;
    while (status_.ok()) {
      fn();
      int d = static_cast<int>(op.box.size()) - 1;
      for (; d >= 0; --d) {
        if (++vars_[op.box[d].var] < op.box[d].extent) break;
        vars_[op.box[d].var] = 0;
      }
      if (d < 0) return;
    }
  }

  void CombineElement(const For& lanes, const PreparedOp& p) {
    std::vector<Scalar> terms;
    bool any = false;
    for (int64_t lane = 0; lane < lanes.extent; ++lane) {
      vars_[lanes.var] = lane;
      const bool counts =
          p.predicate < 0 || Eval(p.program, p.predicate).i != 0;
      any |= counts;
      terms.push_back(counts ? Eval(p.program, p.body[0]) : p.identity[0]);
    }
    vars_[lanes.var] = 0;
    if (!any || !status_.ok()) return;
    const auto combine = [&](Scalar a, Scalar b) {
      accumulators_[0] = a;
      bodies_[0] = b;
      return Eval(p.program, p.combined[0]);
    };
    for (size_t step = 1; step < terms.size(); step *= 2) {
      for (size_t i = 0; i < terms.size(); i += 2 * step)
        terms[i] = combine(terms[i], terms[i + step]);
    }
    Memory& memory = memory_[p.op->dst[0]];
    index_.clear();
    for (int node : p.index) index_.push_back(Eval(p.program, node).i);
    const int64_t at = Offset(memory, index_);
    if (!status_.ok()) return;
    const Scalar result = combine(Read(memory, at), terms[0]);
    if (status_.ok()) Write(memory, at, result);
  }

  void Element(const PreparedOp& p) {
    const TileOp& op = *p.op;
    if (p.predicate >= 0 && Eval(p.program, p.predicate).i == 0) return;
    index_.clear();
    for (int node : p.index) index_.push_back(Eval(p.program, node).i);
    Scalar result[4];
    int64_t at[4];
    const int components = static_cast<int>(op.dst.size());
    TW_CHECK_LE(components, 4);
    for (int i = 0; i < components; ++i)
      at[i] = Offset(memory_[op.dst[i]], index_);
    if (!status_.ok()) return;
    if (op.phase == TileOp::Phase::kInit) {
      for (int i = 0; i < components; ++i) result[i] = p.identity[i];
    } else if (op.phase == TileOp::Phase::kMap) {
      result[0] = Eval(p.program, p.body[0]);
      result[0] =
          Convert(result[0], op.body[0].dtype(), k_.buffers[op.dst[0]].dtype);
    } else {
      for (int i = 0; i < components; ++i) {
        accumulators_[i] = Read(memory_[op.dst[i]], at[i]);
        bodies_[i] = Eval(p.program, p.body[i]);
      }
      for (int i = 0; i < components; ++i)
        result[i] = Eval(p.program, p.combined[i]);
    }
    if (!status_.ok()) return;
    for (int i = 0; i < components; ++i)
      Write(memory_[op.dst[i]], at[i], result[i]);
  }

  // The rounding cast on store. Narrow floats are rounded when they are
  // written.
  static Scalar Convert(Scalar value, DType from, DType to) {
    if (from == to || (IsFloat(from) && IsFloat(to))) return value;
    return EvaluateOp(Op::kCast, to, from, {&value, 1}, true);
  }

  int64_t Offset(const Memory& m, const std::vector<int64_t>& logical) {
    const Layout& layout = m.buffer->layout;
    if (logical.size() != layout.shape().size()) {
      Fail(absl::StrCat("buffer ", m.buffer->name, " has ",
                        layout.shape().size(), " dimensions and ",
                        logical.size(), " indices"));
      return 0;
    }
    for (size_t d = 0; d < logical.size(); ++d) {
      if (logical[d] < -layout.pad_before()[d] ||
          logical[d] >= layout.shape()[d] + layout.pad_after()[d]) {
        Fail(absl::StrCat("index [", absl::StrJoin(logical, ", "),
                          "] of buffer ", m.buffer->name, ", which holds [",
                          absl::StrJoin(layout.shape(), ", "), "]"));
        return 0;
      }
    }
    int64_t offset = layout.base();
    for (size_t i = 0; i < layout.digits().size(); ++i) {
      const Layout::Digit& digit = layout.digits()[i];
      offset += (logical[digit.dim] + layout.pad_before()[digit.dim]) /
                digit.div % digit.extent * m.strides[i];
    }
    return offset;
  }

  Scalar Read(const Memory& m, int64_t at) {
    if (m.tracked && m.written[at] != task_mark_) {
      Fail(absl::StrCat("reads element ", at, " of buffer ", m.buffer->name,
                        ", which this task has not written"));
      return {};
    }
    return internal::ReadLane(m.data + at * SizeBytes(m.buffer->dtype),
                              m.buffer->dtype, 0);
  }
  void Write(Memory& m, int64_t at, Scalar value) {
    if (m.buffer->role == Role::kOutput && m.written[at] != 0 &&
        m.written[at] != task_mark_) {
      Fail(absl::StrCat("writes element ", at, " of buffer ", m.buffer->name,
                        ", which another task has written"));
      return;
    }
    m.written[at] = task_mark_;
    internal::WriteLane(m.data + at * SizeBytes(m.buffer->dtype),
                        m.buffer->dtype, 0, value);
  }

  Scalar Eval(const TileProgram& p, int root) {
    const TileNode& n = p.nodes[root];
    switch (n.op) {
      case Op::kConst:
        return n.constant;
      case Op::kVar:
        return {0, vars_[n.var]};
      case Op::kLoad:
        return Load(p, n);
      case Op::kSelect:
        return Eval(
            p, Eval(p, n.operands[0]).i != 0 ? n.operands[1] : n.operands[2]);
      default:
        break;
    }
    Scalar in[3];
    size_t count = 0;
    for (; count < 3 && n.operands[count] >= 0; ++count)
      in[count] = Eval(p, n.operands[count]);
    if (n.operand_dtype == DType::kInt64 && count == 2)  // index arithmetic
      return {0, EvaluateIntegerOp(n.op, DType::kInt64, in[0].i, in[1].i)};
    if (n.dtype == DType::kFloat32 && n.operand_dtype == DType::kFloat32) {
      const float a = static_cast<float>(in[0].f),
                  b = static_cast<float>(in[1].f);
      if (n.op == Op::kAdd) return {a + b, 0};
      if (n.op == Op::kSub) return {a - b, 0};
      if (n.op == Op::kMul) return {a * b, 0};
    }
    return EvaluateOp(n.op, n.dtype, n.operand_dtype, {in, count}, true);
  }

  Scalar Load(const TileProgram& p, const TileNode& n) {
    if (n.source <= BodySlot(0)) return bodies_[BodySlot(0) - n.source];
    if (n.source <= AccumulatorSlot(0))
      return accumulators_[AccumulatorSlot(0) - n.source];
    std::vector<int64_t> index;
    index.reserve(n.index.size());
    for (int node : n.index) index.push_back(Eval(p, node).i);
    const Memory& m = memory_[n.source];
    const int64_t at = Offset(m, index);
    return status_.ok() ? Read(m, at) : Scalar{};
  }

  const Kernel& k_;
  std::vector<int64_t> vars_;
  std::vector<Memory> memory_;
  std::unordered_map<const void*, std::unique_ptr<PreparedOp>>
      prepared_;  // by statement, on first use
  std::vector<std::pair<const std::string*, int64_t>>
      stack_;  // loops around, for messages
  std::vector<int64_t> index_;
  Scalar accumulators_[4], bodies_[4];
  int32_t task_mark_ = 0;
  const TileOp* running_ = nullptr;
  absl::Status status_;
};

}  // namespace

absl::Status InterpretTileKernel(const Kernel& kernel,
                                 absl::Span<std::string> args) {
  TW_RETURN_IF_ERROR(VerifyTileKernel(kernel));
  Machine machine(kernel);
  TW_RETURN_IF_ERROR(machine.Bind(args));
  return machine.Run();
}

}  // namespace tilewright::kernel_ir
