// Operands of 8 bits with zero points, as sums of products want them.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_INTEGER_OPERANDS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_INTEGER_OPERANDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// The inputs of a node that hold an operand and its zero point.
struct Operand {
  int value;
  int zero;
};

// The constant that input `i` is; null if it is none.
const HostTensor* Known(const OpContext& op, int i);

// Whether it has 8 bits and one zero point for all or, along dimension `dim`
// (-1: never), one for each.
absl::Status CheckOperand(const OpContext& op, const Operand& operand, int dim);

// A constant operand less its zero points, if that fits in i8. `dim`: of the
// channels that zero points are for.
std::optional<HostTensor> Centred(const OpContext& op, const Operand& operand,
                                  int dim);

// Terms that an instruction sums (tilegraph/ir/intrinsics.h), and the next
// multiple.
inline constexpr int64_t kTermGroup = 4;
int64_t RoundUpToGroup(int64_t terms);
// `w` with dimension `dim` filled up with zeros to whole groups.
HostTensor Filled(const HostTensor& w, int dim);

// Input `i` as u8: i8 values move up by 128.
TensorId AsUnsigned(ImportContext& in, int i);

// The one zero point of an operand as AsUnsigned has the values: a number that
// is known, or `offset` more than what a tensor of one element holds.
struct UnsignedZero {
  std::optional<int64_t> known;
  TensorId tensor = -1;
  int64_t offset = 0;

  // In u8.
  Expr AsByte(const ImportContext& in) const;
  // In i32, of the tensor.
  Expr Value(const ImportContext& in) const;
};
// nullopt if there are several.
std::optional<UnsignedZero> UnsignedZeroOf(ImportContext& in,
                                           const Operand& operand);

// The terms that the sum of x * w lacks where x is `zero` too large, by channel
// (dimension `dim` of `w`): -zero * sum of w.
std::vector<int64_t> Corrections(const HostTensor& w, int dim, int64_t zero);

// An operand in i32, less its zero points (along `dim`, if several).
TensorId Widened(ImportContext& in, const Operand& operand, int dim,
                 const char* name);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_INTEGER_OPERANDS_H_
