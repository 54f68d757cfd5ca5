// Loads of tables that a byte says where to read. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BYTE_TABLE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BYTE_TABLE_H_

#include <optional>

#include "absl/types/span.h"
#include "backends/kernel_ir/tile_ir.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::lowering {

// The byte (u8) at which such an index reads a buffer of 256 bytes in memory,
// which a PermuteInst can read then; nullopt if it is no such table.
std::optional<Expr> ByteOfTable(const kernel_ir::Kernel& kernel, int buffer,
                                absl::Span<const Expr> index);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BYTE_TABLE_H_
