// Draws one graph. Private to random_graph.
#ifndef TILEWRIGHT_TILEGRAPH_TESTING_RANDOM_GRAPH_BUILDER_H_
#define TILEWRIGHT_TILEGRAPH_TESTING_RANDOM_GRAPH_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright {

// Computes are added in the order of the GraphShape, each over tensors that are
// there. Every Add returns the new tensor, or -1, and no compute, where that
// would be larger than the options allow; AddCompute then adds another.
class RandomGraphBuilder {
 public:
  RandomGraphBuilder(uint64_t seed, const RandomGraphOptions& options);

  TensorGraph Run(const GraphShape& shape);

 private:
  // An index with the range [0, extent) it runs over.
  struct Index {
    Expr expr;
    int64_t extent;
  };
  // One dimension of a convolution or a pooling.
  struct Window {
    int64_t size, stride, dilation, pad, extent;
  };

  static Expr Op2(Op op, const Expr& a, const Expr& b) {
    return Expr::Make(op, {a, b});
  }
  static Expr Number(double value, DType dtype) {
    return IsFloat(dtype) ? Expr::Float(value, dtype)
                          : Expr::Int(static_cast<int64_t>(value), dtype);
  }

  DType DrawDType();
  // Mostly from a few extents of this graph, so that shapes often meet.
  int64_t DrawExtent();
  std::vector<int64_t> DrawShape();
  // Replaces extents by smaller ones until the product fits.
  static std::vector<int64_t> Fit(std::vector<int64_t> shape, int64_t limit);
  // A placeholder, or a constant.
  TensorId DrawInput(std::vector<int64_t> shape);

  // The compute being built: its axes, then Finish.
  void Reset();
  Index Spatial(int64_t extent);
  Index Reduced(int64_t extent);
  std::vector<Index> SpatialLike(absl::Span<const int64_t> shape);
  int64_t Points() const;
  int64_t Elements() const;
  bool TooLarge() const;
  std::vector<int64_t> ShapeOf(TensorId id) const;
  // Loads `id` at indices aligned to its last dimensions: extent 1 is
  // broadcast, missing dimensions read 0, and where the index runs further than
  // the tensor a select takes `outside` instead.
  Expr Read(TensorId id, absl::Span<const Index> indices, double outside = 0);
  TensorId Finish(Expr body);
  TensorId FinishReduce(Combiner::Kind kind, Expr body, ComputeHint hint = {});

  // Adds the drawn kind, or if it would be too large or its rank does not allow
  // it, an elementwise compute.
  TensorId AddCompute(ComputeKind kind, const std::vector<TensorId>& inputs);

  // Elementwise; without `y` the second operand is drawn, here and below.
  Expr Unary(const Expr& x);
  TensorId AddUnary(TensorId x);
  TensorId AddBinary(TensorId x, TensorId y);

  // Reductions (random_graph_reductions.cc).
  Combiner::Kind DrawCombiner();
  TensorId AddReduce(TensorId x);
  TensorId AddMatmul(TensorId x, TensorId y);
  Window DrawWindow(int64_t extent);
  // out[.., i, ..] over x[.., i·stride + k·dilation - pad, ..] for one axis, or
  // the two last; weighted also over channels.
  TensorId AddSliding(TensorId x, bool weighted);

  // Moves of elements (random_graph_moves.cc).
  TensorId AddTranspose(TensorId x);
  TensorId AddSplit(TensorId x);
  TensorId AddMerge(TensorId x);
  TensorId AddWindow(TensorId x);
  TensorId AddConcat(TensorId x, TensorId y);

  Random random_;
  const RandomGraphOptions options_;
  DType dtype_;
  std::vector<int64_t> pool_;
  TensorGraph graph_;
  std::vector<Axis> axes_, reduce_axes_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TESTING_RANDOM_GRAPH_BUILDER_H_
