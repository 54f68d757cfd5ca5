// For tests of legalize: tile kernels written by hand, and the check that the
// scalar tier computes what the tile tier does.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_LEGALIZE_TESTING_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_LEGALIZE_TESTING_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/vectorize/legalize.h"

namespace tilewright::lowering::legalize_testing {

using kernel_ir::For;
using kernel_ir::Inst;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Role;
using kernel_ir::ScalarKernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

inline Expr I(int64_t value) { return Expr::Int(value); }
inline Expr Mul(Expr a, Expr b) {
  return Expr::Make(Op::kMul, {std::move(a), std::move(b)});
}
inline Expr Lt(Expr a, Expr b) {
  return Expr::Make(Op::kLt, {std::move(a), std::move(b)});
}
inline Expr Ge(Expr a, Expr b) {
  return Expr::Make(Op::kGe, {std::move(a), std::move(b)});
}
inline Expr And(Expr a, Expr b) {
  return Expr::Make(Op::kAnd, {std::move(a), std::move(b)});
}
inline Expr Select(Expr c, Expr a, Expr b) {
  return Expr::Make(Op::kSelect, {std::move(c), std::move(a), std::move(b)});
}

// A kernel under construction: variables are numbered as they are made.
struct Writer {
  Kernel kernel;

  Writer() { kernel.name = "k"; }
  int Buffer(std::string name, Level level, Role role, Layout layout,
             DType dtype = DType::kFloat32) {
    const int id = static_cast<int>(kernel.buffers.size());
    kernel.buffers.push_back(
        {id, std::move(name), dtype, level, role, std::move(layout)});
    return id;
  }
  int Input(std::string name, std::vector<int64_t> shape) {
    return Buffer(std::move(name), Level::kGlobal, Role::kInput,
                  Layout::RowMajor(shape));
  }
  int Output(std::string name, std::vector<int64_t> shape) {
    return Buffer(std::move(name), Level::kGlobal, Role::kOutput,
                  Layout::RowMajor(shape));
  }
  int Registers(std::string name, std::vector<int64_t> shape) {
    return Buffer(std::move(name), Level::kRegisters, Role::kLocal,
                  Layout::RowMajor(shape));
  }
  Expr Var(std::string name) {
    return Expr::Var(kernel.num_vars++, std::move(name));
  }
  Expr Load(int buffer, std::vector<Expr> index) {
    return Expr::Load(buffer, kernel.buffers[buffer].dtype, std::move(index));
  }

  static TileAxis Axis(const Expr& var, int64_t extent) {
    return {var.var_id(), var.var_name(), extent};
  }
  static Stmt Loop(const Expr& var, int64_t extent, std::vector<Stmt> body,
                   For::Kind kind = For::Kind::kSerial) {
    For loop;
    loop.var = var.var_id();
    loop.name = var.var_name();
    loop.extent = extent;
    loop.kind = kind;
    loop.body = std::move(body);
    return Stmt{std::move(loop)};
  }
  static Stmt Op(TileOp::Phase phase, std::vector<TileAxis> box, int dst,
                 std::vector<Expr> index, std::vector<Expr> body,
                 Expr predicate = Expr(),
                 Combiner combiner = Combiner(Combiner::Kind::kSum,
                                              DType::kFloat32)) {
    TileOp op;
    op.phase = phase;
    op.box = std::move(box);
    op.dst = {dst};
    op.index = std::move(index);
    op.body = std::move(body);
    op.predicate = std::move(predicate);
    if (phase != TileOp::Phase::kMap) op.combiner = combiner;
    return Stmt{std::move(op)};
  }
};

// Small integers, so that every order of summation gives the same bits.
std::vector<std::string> Arguments(const Kernel& kernel);

// Expects the same of both tiers on the same arguments, at several vector
// widths. Gives the kernel for AVX-512.
ScalarKernel ExpectSame(const Kernel& kernel, LegalizeReport* report = nullptr);

// Instructions of one type inside the loop called `name`, or anywhere.
template <typename T>
int Count(const std::vector<Inst>& body, const std::string& name,
          const ScalarKernel& kernel, bool inside = false,
          const std::function<bool(const T&)>& which = nullptr) {
  int count = 0;
  for (const Inst& inst : body) {
    if (const auto* loop = std::get_if<kernel_ir::ForInst>(&inst.node)) {
      count += Count<T>(loop->body, name, kernel,
                        inside || kernel.regs[loop->var].name == name, which);
    }
    if (const auto* branch = std::get_if<kernel_ir::IfInst>(&inst.node)) {
      count += Count<T>(branch->then_body, name, kernel, inside, which) +
               Count<T>(branch->else_body, name, kernel, inside, which);
    }
    if (const auto* one = std::get_if<T>(&inst.node))
      count += (inside || name.empty()) && (!which || which(*one));
  }
  return count;
}

}  // namespace tilewright::lowering::legalize_testing

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_LEGALIZE_TESTING_H_
