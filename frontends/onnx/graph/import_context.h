// Turns one node into computes of the graph.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_IMPORT_CONTEXT_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_IMPORT_CONTEXT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The value of one element, given its index.
using Body = std::function<Expr(absl::Span<const Expr> index)>;
// The same for the terms of a reduction: `index` is the output's, `reduced`
// runs over the reduce axes.
using Terms = std::function<Expr(absl::Span<const Expr> index,
                                 absl::Span<const Expr> reduced)>;

struct NamedAxis {
  std::string name;
  int64_t extent;
};

class ImportContext {
 public:
  // `tensor_of` gives the tensor of an input, adding a constant when it is
  // first asked for. All are borrowed.
  ImportContext(const OpContext& op, TensorGraph& graph,
                std::function<TensorId(ValueId)> tensor_of);

  const OpContext& op() const { return op_; }
  TensorGraph& graph() { return graph_; }
  TensorId input(int i);
  // Of a value that an earlier node reads or makes.
  TensorId TensorOf(ValueId id) const { return tensor_of_(id); }
  Shape shape_of(TensorId id) const;
  DType dtype_of(TensorId id) const { return graph_.tensor(id).dtype; }

  // The name of output `i`, for its last compute; with a suffix for those
  // before it. Of one that nobody reads, made from the first that somebody
  // does; REQUIRES: there is one.
  std::string Name(int i = 0, absl::string_view suffix = "") const;
  void SetOutput(int i, TensorId id) { outputs_[i] = id; }
  // -1 where not set.
  const std::vector<TensorId>& outputs() const { return outputs_; }

  // Axes are named d0, d1, ....
  TensorId Elementwise(std::string name, DType dtype, const Shape& shape,
                       ComputeHint hint, const Body& body);
  // The last compute of output `i`, with its name, dtype and shape.
  void EmitElementwise(int i, ComputeHint hint, const Body& body);
  // Terms are cast to the accumulator's dtype.
  TensorId Reduction(std::string name, DType dtype,
                     absl::Span<const NamedAxis> axes,
                     absl::Span<const NamedAxis> reduced,
                     Combiner::Kind combiner, ComputeHint hint,
                     const Terms& terms);
  // Which term is the greatest (kArgMax) or the least (kArgMin): what
  // `position`, an i64, is for it; of several terms the smallest position.
  TensorId ArgReduction(std::string name, absl::Span<const NamedAxis> axes,
                        absl::Span<const NamedAxis> reduced,
                        Combiner::Kind combiner, ComputeHint hint,
                        const Terms& terms, const Terms& position);
  TensorId Constant(std::string name, HostTensor value);

  // tensor[index], the tensor's dimensions aligned to the last of `index`,
  // those of extent 1 broadcast. A constant of one element becomes a literal.
  Expr Load(TensorId tensor, absl::Span<const Expr> index) const;
  // The same with the tensor's first dimension aligned to index[first].
  Expr LoadAligned(TensorId tensor, absl::Span<const Expr> index,
                   int first) const;
  // All dimensions given.
  Expr At(TensorId tensor, std::vector<Expr> index) const {
    return graph_.Load(tensor, std::move(index));
  }

 private:
  // A compute with those axes, and with variables for them.
  struct Loops {
    Compute compute;
    std::vector<Expr> index, over;
  };
  Loops LoopsOver(absl::Span<const NamedAxis> axes,
                  absl::Span<const NamedAxis> reduced);

  const OpContext& op_;
  TensorGraph& graph_;
  std::function<TensorId(ValueId)> tensor_of_;
  std::vector<TensorId> outputs_;
  Shape extents_;  // of the axes of the compute that is being written
};

// Expressions that come up everywhere. Literals take the dtype of what they
// stand beside.
Expr Literal(DType dtype, double value);
Expr LiteralOf(const HostTensor& tensor, int64_t index);
Expr Unary(Op op, const Expr& a);
Expr Binary(Op op, const Expr& a, const Expr& b);
Expr Add(const Expr& a, const Expr& b);
Expr Add(const Expr& a, double b);
Expr Sub(const Expr& a, const Expr& b);
Expr Mul(const Expr& a, const Expr& b);
Expr Mul(const Expr& a, double b);
Expr Div(const Expr& a, const Expr& b);
// A cast, or `value` itself if it has that dtype.
Expr CastTo(DType dtype, const Expr& value);
Expr SelectExpr(const Expr& condition, const Expr& then, const Expr& otherwise);
// 0 <= index < extent, without those comparisons that are not asked for; empty
// if none is.
Expr InBounds(const Expr& index, int64_t extent, bool below, bool above);
// a && b, where an empty one is true.
Expr AndAll(const Expr& a, const Expr& b);
// The least value of a dtype: -inf, or the smallest integer; and the greatest.
Expr Lowest(DType dtype);
Expr Highest(DType dtype);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_IMPORT_CONTEXT_H_
