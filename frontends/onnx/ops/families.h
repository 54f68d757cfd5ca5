// The operators by family, one source file each; op_table.h joins them.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_FAMILIES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_FAMILIES_H_

#include "absl/types/span.h"

namespace tilewright {

struct OpDef;

absl::Span<const OpDef>
ElementwiseOps();  // arithmetic, comparison, logic, Cast
absl::Span<const OpDef> TrigonometricOps();  // hyperbolic ones and inverses
absl::Span<const OpDef> ActivationOps();
absl::Span<const OpDef> MatMulOps();
absl::Span<const OpDef> ConvOps();
absl::Span<const OpDef> PoolOps();
absl::Span<const OpDef> MaxUnpoolOps();
absl::Span<const OpDef> ReduceOps();
absl::Span<const OpDef> CumSumOps();
absl::Span<const OpDef> NormOps();
absl::Span<const OpDef> SoftmaxOps();
absl::Span<const OpDef> ShapeOps();     // the same elements in another shape
absl::Span<const OpDef> IndexingOps();  // copies and joins of tensors
absl::Span<const OpDef> SlicingOps();
absl::Span<const OpDef> GatherOps();
absl::Span<const OpDef> ScatterOps();
absl::Span<const OpDef> TensorScatterOps();
absl::Span<const OpDef> ConvTransposeOps();
absl::Span<const OpDef> Col2ImOps();
absl::Span<const OpDef> ResizeOps();
absl::Span<const OpDef> QuantizeOps();
absl::Span<const OpDef> IntegerOps();  // sums of products of 8-bit integers
absl::Span<const OpDef> EinsumOps();
absl::Span<const OpDef> DeterminantOps();
absl::Span<const OpDef> LossOps();
absl::Span<const OpDef> BitwiseOps();
absl::Span<const OpDef> RotaryOps();
absl::Span<const OpDef> AttentionOps();
absl::Span<const OpDef> GridSampleOps();
absl::Span<const OpDef> DeformConvOps();
absl::Span<const OpDef> AffineGridOps();
absl::Span<const OpDef> RoiAlignOps();
absl::Span<const OpDef> SelectionOps();
absl::Span<const OpDef> WindowFunctionOps();
absl::Span<const OpDef> MelOps();
absl::Span<const OpDef> DftOps();
absl::Span<const OpDef> StftOps();
absl::Span<const OpDef> RecurrentOps();
absl::Span<const OpDef> ReverseSequenceOps();

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_FAMILIES_H_
