// Small graphs for tests: every topology of at most three computes, every
// assignment of kinds of compute to it, extents drawn by seed from {1, 2, 3, 5,
// 7, 8, 13, 16, 17, 31, 33} (design: ir.md, "Tails"). Equal arguments give
// equal graphs.
#ifndef TILEWRIGHT_TILEGRAPH_TESTING_RANDOM_GRAPH_H_
#define TILEWRIGHT_TILEGRAPH_TESTING_RANDOM_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The kinds of computes. One that its input's rank does not allow becomes
// kUnary.
enum class ComputeKind : uint8_t {
  kUnary,   // relu, square, scale and shift, ..., sometimes tanh, exp, sigmoid
  kReduce,  // sum, max or min over one or two axes; sometimes argmax, or an
            // axis kept with extent 1
  kPool,    // max or sum over a window along one or two axes: stride, dilation,
            // padding guarded by a select
  kConv,    // the same with channels and a weight
  kTranspose,
  kSplit,   // one axis into two (index i·d + j), perhaps swapped with its
            // neighbour: the head split of attention
  kMerge,   // two axes into one (floordiv and mod of the fused axis), the
            // reverse
  kWindow,  // padded, or a slice with a step
  kBinary,  // two operands, broadcast
  kMatmul,  // over the last axis of the first operand
  kConcat,  // two operands behind each other along one axis
};
constexpr int kComputeKinds = 11;
std::string Name(ComputeKind kind);
// Kinds that may read two other computes.
bool TakesTwo(ComputeKind kind);

// Which earlier computes each one reads (none: only placeholders and
// constants), and what it does with them.
struct GraphShape {
  std::vector<std::vector<int>> reads;
  std::vector<ComputeKind> kinds;
};
// Without kinds: 1 + 2 + 8 topologies for three computes; chains, fan-out,
// fan-in and diamonds among them.
std::vector<GraphShape> AllTopologies(int max_computes = 3);
// With every assignment of kinds.
std::vector<GraphShape> AllGraphShapes(int max_computes = 3);
// Larger ones: each compute reads one or two of the three before it. `moves`:
// the share of those that only move elements.
GraphShape RandomChain(uint64_t seed, int computes, double moves = 0);

struct RandomGraphOptions {
  int max_computes = 3;
  // Only ring operations, max, min, moves and comparisons, constants small
  // integers, and no intermediate beyond what the dtypes hold exactly for
  // inputs from RandomInputs(exact_integers): results must then match bit for
  // bit.
  bool exact_only = false;
  bool f32_only = false;
  int64_t max_elements = 2048;     // of one tensor
  int64_t max_points = 64 * 1024;  // of the iteration space of one compute
};

// The outputs are the computes nobody reads, sometimes an intermediate too.
TensorGraph BuildGraph(const GraphShape& shape, uint64_t seed,
                       const RandomGraphOptions& options = {});
// Topology and kinds drawn as well.
TensorGraph RandomGraph(uint64_t seed, const RandomGraphOptions& options = {});

// A bound on every |value| of the graph, partial sums of reductions included,
// if inputs are at most `input` in magnitude.
double MagnitudeBound(const TensorGraph& graph, double input);
// One tensor per placeholder: unit normals (small integers for integer dtypes),
// or small integers for all, in [-3, 3] if every value stays exact with that,
// else in [-1, 1].
std::map<TensorId, HostTensor> RandomInputs(const TensorGraph& graph,
                                            uint64_t seed, bool exact_integers);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TESTING_RANDOM_GRAPH_H_
