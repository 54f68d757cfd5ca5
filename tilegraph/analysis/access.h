// Shapes of access that planning asks about: does a compute read a tensor
// element by element, is it a mere padding, does it only move elements?
// Answered from expressions alone.
#ifndef TILEWRIGHT_TILEGRAPH_ANALYSIS_ACCESS_H_
#define TILEWRIGHT_TILEGRAPH_ANALYSIS_ACCESS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Every load of `source` by `consumer` is at the consumer's own spatial index,
// and the shapes are equal.
bool ReadsElementwise(const TensorGraph& graph, TensorId consumer,
                      TensorId source);

// `id` is its source surrounded by zeros, and nothing else.
struct ZeroPadding {
  TensorId source;
  std::vector<int64_t> before, after;  // per dimension
};
std::optional<ZeroPadding> AsZeroPadding(const TensorGraph& graph, TensorId id);

// Every element of `id` is one element of another tensor, whatever its value:
// reshapes, transpositions, slices, broadcasts.
struct Move {
  TensorId source;
  std::vector<Expr> index;  // per dimension of the source, over axes of `id`
};
std::optional<Move> AsMove(const TensorGraph& graph, TensorId id);

// The axis and the bound of "axis < bound", which where a part ends is.
std::optional<std::pair<int, int64_t>> AsUpperBound(const Expr& condition);

// `id` is whole tensors behind each other along one axis.
struct Concatenation {
  struct Part {
    TensorId source;
    int64_t offset;  // along the axis
  };
  int axis;
  std::vector<Part> parts;
};
std::optional<Concatenation> AsConcatenation(const TensorGraph& graph,
                                             TensorId id);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_ANALYSIS_ACCESS_H_
