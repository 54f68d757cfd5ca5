// A TensorGraph: a DAG of placeholders, constants and computes. It knows
// shapes, dtypes and expressions; it knows no loops, no memory levels and no
// layouts. Tensors are numbered in order of creation and read only earlier
// ones, so the order is topological.
//
//   A: f32[64, 32] = placeholder
//   T: f32[64, 48] = compute (m: 64, n: 48) reduce (k: 32) sum:f32 { A[m, k] *
//   B[k, n] }
#ifndef TILEWRIGHT_TILEGRAPH_IR_TENSOR_GRAPH_H_
#define TILEWRIGHT_TILEGRAPH_IR_TENSOR_GRAPH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/compute_hint.h"
#include "tilegraph/ir/dim.h"

namespace tilewright {

using TensorId = int;

struct Axis {
  std::string name;
  Dim extent;
};

// out[axes] = combine over reduce_axes of body(axes, reduce_axes). Inside
// `body`, Var(i) is axis i, the spatial ones first, then the reduce axes. With
// a combiner of arity k, `body` has k expressions and the tensor takes
// component `result`; otherwise one. A dtype of the tensor other than the
// body's (or the accumulator's) means a rounding cast on store.
struct Compute {
  std::vector<Axis> axes;
  std::vector<Axis> reduce_axes;
  std::optional<Combiner> combiner;  // set exactly if reduce_axes is not empty
  std::vector<Expr> body;
  int result = 0;
};

enum class TensorKind : uint8_t { kPlaceholder, kConstant, kCompute };

struct Tensor {
  TensorId id = 0;
  std::string name;  // unique in the graph
  DType dtype = DType::kFloat32;
  std::vector<Dim> shape;
  TensorKind kind = TensorKind::kPlaceholder;
  std::shared_ptr<const HostTensor> value;  // kConstant only
  Compute compute;                          // kCompute only
  ComputeHint hint;                         // kCompute only

  std::vector<int64_t> static_shape() const;  // REQUIRES: no symbols
  int64_t num_elements() const;               // REQUIRES: no symbols
  int64_t num_bytes() const;                  // REQUIRES: no symbols
};

class TensorGraph {
 public:
  // A taken name gets a suffix, an empty one becomes "t".
  TensorId AddPlaceholder(std::string name, DType dtype,
                          std::vector<Dim> shape);
  TensorId AddConstant(std::string name,
                       std::shared_ptr<const HostTensor> value);
  // One whose value the graph does not hold: VerifyGraph refuses it.
  TensorId AddConstant(std::string name, DType dtype,
                       absl::Span<const int64_t> shape);
  // The shape is that of `compute.axes`.
  TensorId AddCompute(std::string name, DType dtype, Compute compute,
                      ComputeHint hint = {});
  void SetOutputs(std::vector<TensorId> outputs) {
    outputs_ = std::move(outputs);
  }

  int size() const { return static_cast<int>(tensors_.size()); }
  const Tensor& tensor(TensorId id) const {
    TW_DCHECK_LT(static_cast<size_t>(id), tensors_.size());
    return tensors_[id];
  }
  absl::Span<const Tensor> tensors() const { return tensors_; }
  absl::Span<const TensorId> outputs() const { return outputs_; }
  std::optional<TensorId> Find(std::string_view name) const;
  // Load(id, ...) with the tensor's dtype.
  Expr Load(TensorId id, std::vector<Expr> indices) const;

  // Distinct tensors that `id` loads, in order of first appearance. Valid until
  // a tensor is added.
  const std::vector<TensorId>& Inputs(TensorId id) const {
    TW_CHECK(id >= 0 && id < size()) << "no tensor " << id;
    return inputs_[static_cast<size_t>(id)];
  }
  // Consumers()[t]: the computes that load t, ascending, but for those that
  // were there before it, which VerifyGraph refuses. Valid likewise.
  const std::vector<std::vector<TensorId>>& Consumers() const {
    return consumers_;
  }

 private:
  TensorId Add(Tensor tensor);
  std::string UniqueName(std::string name);

  std::vector<Tensor> tensors_;
  std::vector<std::vector<TensorId>> inputs_, consumers_;
  std::unordered_map<std::string, TensorId> by_name_;  // Looked up only.
  std::unordered_map<std::string, int>
      last_suffix_;  // By the name it was added to; the same.
  std::vector<TensorId> outputs_;
};

// The graph that holds only what `outputs` need; tensors keep their names and
// relative order.
TensorGraph Extract(const TensorGraph& graph,
                    absl::Span<const TensorId> outputs);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_TENSOR_GRAPH_H_
