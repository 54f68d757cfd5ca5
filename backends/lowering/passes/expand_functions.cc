#include "backends/lowering/passes/expand_functions.h"

#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "backends/lowering/functions/functions.h"
#include "backends/lowering/functions/value.h"
#include "base/check.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::CopyInst;
using kernel_ir::ForInst;
using kernel_ir::IfInst;
using kernel_ir::Inst;
using kernel_ir::OpInst;

functions::Value Expand(Op op, functions::Value x, functions::Value y) {
  switch (op) {
    case Op::kExp:
      return functions::Exp(x);
    case Op::kLog:
      return functions::Log(x);
    case Op::kTanh:
      return functions::Tanh(x);
    case Op::kErf:
      return functions::Erf(x);
    case Op::kSigmoid:
      return functions::Sigmoid(x);
    case Op::kSin:
      return functions::Sin(x);
    case Op::kCos:
      return functions::Cos(x);
    case Op::kPow:
      return functions::Pow(x, y);
    default:
      break;
  }
  TW_CHECK(false) << "no function: " << Name(op);
  return x;
}

std::vector<Inst> ExpandBody(functions::Emitter& emitter,
                             std::vector<Inst> body) {
  std::vector<Inst> out;
  for (Inst& inst : body) {
    if (auto* loop = std::get_if<ForInst>(&inst.node)) {
      loop->body = ExpandBody(emitter, std::move(loop->body));
    } else if (auto* branch = std::get_if<IfInst>(&inst.node)) {
      branch->then_body = ExpandBody(emitter, std::move(branch->then_body));
      branch->else_body = ExpandBody(emitter, std::move(branch->else_body));
    } else if (auto* n = std::get_if<OpInst>(&inst.node);
               n != nullptr && IsTranscendental(n->op) &&
               IsFloat(emitter.type(n->dst).dtype)) {
      emitter.set_out(&out);
      const functions::Value result =
          Expand(n->op, emitter.Of(n->operands.front()),
                 emitter.Of(n->operands.back()));
      out.push_back(Inst{CopyInst{n->dst, result.reg}});
      continue;
    }
    out.push_back(std::move(inst));
  }
  return out;
}

}  // namespace

void ExpandFunctions(kernel_ir::ScalarKernel& kernel,
                     const FunctionOptions& options) {
  functions::Emitter emitter(kernel, options.fma, options.scale,
                             options.lookup);
  std::vector<Inst> body = ExpandBody(emitter, std::move(kernel.body));
  kernel.body = emitter.TakeConstants();
  kernel.body.insert(kernel.body.end(), std::make_move_iterator(body.begin()),
                     std::make_move_iterator(body.end()));
}

}  // namespace tilewright::lowering
