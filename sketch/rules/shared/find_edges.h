// Steps of a sum of products that read a known zero: taps of a convolution that
// lie in its padding.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_FIND_EDGES_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_FIND_EDGES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "sketch/trace/workload.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// A dimension of an operand along which some steps read known zeros.
struct Edge {
  TensorId tensor;
  int dim;
  bool column;   // the last one
  Expr index;    // along it, over the axes of the sum
  double share;  // of all steps, those that do

  // Where one axis of the output and one of the sum move the index, the taps:
  // the positions along `output_axis` at which a tap reads no known zero, tap
  // by tap. Otherwise the axes are -1 and there are no taps.
  struct Positions {
    int64_t first, end;
  };
  int output_axis = -1, reduce_axis = -1;
  int64_t output_extent = 1;
  std::vector<Positions> taps;

  // Whether all positions of a tile of so many have the same taps, wherever it
  // lies. False without taps.
  bool SameTapsIn(int64_t tile) const;
  // The most taps at any position. REQUIRES: there are taps.
  int64_t MostTaps() const;
};

// `body`: of the sum, its prologue inlined. Empty if it is no sum of products
// with known zeros.
std::vector<Edge> FindEdges(const Workload& workload, const Tensor& reduction,
                            absl::Span<const Expr> body);

// Of so many terms of a sum, the most that read no known zero in any of its
// elements. REQUIRES: `terms` is the product of all reduced extents.
int64_t MostTermsOf(absl::Span<const Edge> edges, int64_t terms);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_FIND_EDGES_H_
