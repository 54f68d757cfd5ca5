// The operations of hardware that schedules may ask for by name (tensorize),
// each declared as the tensor expression it computes (design: ir.md, "Kernel
// IR"). A device spec lists the names it has (unit.matrix_units).
//
// A dot intrinsic sums short groups of products of narrow numbers in a wide
// accumulator:
//   C[n] = C[n] + sum over g in [0, group) of acc(A[g]) * acc(B[n, g])
// A is the same for all lanes n. Integers are exact and wrap. Floats: a product
// of two bf16 is exact in f32; how a group's sum is rounded, and whether
// denormals count as zero, is the machine's choice, so these are for declared
// reduced precision only (docs/numerics.md).
#ifndef TILEWRIGHT_TILEGRAPH_IR_INTRINSICS_H_
#define TILEWRIGHT_TILEGRAPH_IR_INTRINSICS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

struct DotIntrinsic {
  std::string_view name;
  int group;  // terms that one step sums
  DType a;    // shared by the lanes
  DType b;    // of every lane its own
  DType acc;
};

// "dot4_u8s8_i32", "dot2_bf16_f32".
absl::Span<const DotIntrinsic> DotIntrinsics();
// Null if there is none of that name.
const DotIntrinsic* FindDotIntrinsic(std::string_view name);

// The declared meaning: placeholders C[lanes], A[group], B[lanes, group], one
// output.
TensorGraph Semantics(const DotIntrinsic& intrinsic, int64_t lanes);

// A term of a reduction as one of an intrinsic: acc(a) * acc(b), where `a` and
// `b` are loads.
struct DotTerm {
  const DotIntrinsic* intrinsic;
  Expr a, b;
};
// nullopt if it is none. Where both operands have one dtype, `a` is the one
// that comes first; the caller may exchange them.
std::optional<DotTerm> MatchDotTerm(const Combiner& combiner, const Expr& term);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_INTRINSICS_H_
