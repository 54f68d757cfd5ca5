#include "backends/kernel_ir/tile_program.h"

#include <cstddef>
#include <utility>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

int TileProgram::Add(const Expr& e) {
  TileNode node;
  node.op = e.op();
  node.dtype = RegisterType(e.dtype());  // fp16 and bf16 are storage: a cast
                                         // to them rounds when it is stored
  if (e.op() == Op::kConst) {
    if (IsFloat(e.dtype()))
      node.constant.f = e.float_value();
    else
      node.constant.i = e.int_value();
  } else if (e.op() == Op::kVar) {
    node.var = e.var_id();
  } else if (e.op() == Op::kLoad) {
    node.source = e.source();
    for (const Expr& operand : e.operands()) node.index.push_back(Add(operand));
  } else {
    for (size_t i = 0; i < e.operands().size(); ++i)
      node.operands[i] = Add(e.operand(i));
    node.operand_dtype = e.operands().back().dtype();
  }
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

}  // namespace tilewright::kernel_ir
