#include "backends/lowering/vectorize/byte_table.h"

#include "backends/kernel_ir/scalar_inst.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {

std::optional<Expr> ByteOfTable(const kernel_ir::Kernel& kernel, int buffer,
                                absl::Span<const Expr> index) {
  const kernel_ir::Buffer& table = kernel.buffers[buffer];
  if ((table.role != kernel_ir::Role::kConstant &&
       table.role != kernel_ir::Role::kInput) ||
      SizeBytes(table.dtype) != 1 || table.dtype == DType::kBool ||
      index.size() != 1 ||
      table.layout.physical_elements() != kernel_ir::kPermuteBytes ||
      index[0].op() != Op::kCast ||
      index[0].operand(0).dtype() != DType::kUInt8)
    return std::nullopt;
  return index[0].operand(0);
}

}  // namespace tilewright::lowering
