#include "tilegraph/cost/compute_features.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tilegraph/analysis/axis_groups.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright {
namespace {

// Computes that only move elements are transposed in registers
// (sketch/rules/move_schedule.h): of a vector of theirs half is scattered.
constexpr double kTransposed = 0.5;

// Neighbours of which a vector is nearly always within one group.
constexpr int64_t kSharedByLanes = 16;

// How results and loads lie in memory: the dimension along which neighbours are
// neighbours there. Constants are packed as they are read and not listed.
struct VectorDims {
  int output;
  std::map<TensorId, int> of_input;
  // Windows: what their edges leave out is decided outside of the loops, and
  // vectors lie along the data (sketch/rules/window_lanes.h): a result is
  // stored apart once for its `terms`.
  bool slides = false;
  double terms = 1;
  int axes = 0;  // of results
  // The channels of a convolution's data: where they come in groups, lanes
  // permute a vector of them, and no window skips any.
  int channels = -1;
};

// Images that grow by a power of two: lanes permute what a vector has loaded.
bool DividesIntoLanes(const Expr& quotient) {
  const Expr& divisor = quotient.operand(1);
  if (divisor.op() != Op::kConst || IsFloat(divisor.dtype())) return false;
  const int64_t by = divisor.int_value();
  return by > 0 && (by & (by - 1)) == 0;
}

// Whether it is the same for a vector of neighbours, or nearly always: the
// group of channels, say, that one of them is in.
bool IsSharedByLanes(const Expr& quotient) {
  const auto group = AsAxisGroup(quotient);
  return group && group->size >= kSharedByLanes;
}

// How an index moves from one of neighbouring results, along `dim`, to the
// next.
struct Motion {
  bool moves = false;
  bool jumps = false;
};

Motion MotionOf(const Expr& index, int dim) {
  if (index.op() == Op::kVar) return {index.var_id() == dim, false};
  if (IsSharedByLanes(index)) return {};
  Motion motion;
  for (const Expr& operand : index.operands()) {
    const Motion inner = MotionOf(operand, dim);
    motion.moves |= inner.moves;
    motion.jumps |= inner.jumps;
  }
  motion.jumps |= motion.moves &&
                  (index.op() == Op::kMul ||
                   (index.op() == Op::kFloorDiv && !DividesIntoLanes(index)));
  return motion;
}

// Whether results that are neighbours load neighbours, or all the same.
bool LoadsNeighbours(const Expr& load, const VectorDims& dims) {
  const auto input = dims.of_input.find(load.source());
  if (input == dims.of_input.end()) return true;
  for (size_t d = 0; d < load.operands().size(); ++d) {
    const auto [moves, jumps] =
        MotionOf(load.operand(static_cast<int>(d)), dims.output);
    const int dim = static_cast<int>(d);
    if (moves && (dim != input->second || (jumps && dim != dims.channels)))
      return false;
  }
  return true;
}

// Whether results that are neighbours along some axis load neighbours.
bool LoadsAlongAnAxis(const Expr& load, const VectorDims& dims) {
  const int dim = dims.of_input.at(load.source());
  if (dim < 0) return false;
  for (int axis = 0; axis < dims.axes; ++axis) {
    const auto [moves, jumps] = MotionOf(load.operand(dim), axis);
    if (moves && !jumps) return true;
  }
  return false;
}

double ScatteredLoads(const Expr& load, const VectorDims& dims) {
  if (LoadsNeighbours(load, dims)) return 0;
  return dims.slides && LoadsAlongAnAxis(load, dims) ? 1 / dims.terms : 1;
}

void Add(const OperationCounts& from, OperationCounts& to) {
  to.simple += from.simple;
  to.exps += from.exps;
  to.erfs += from.erfs;
  to.tanhs += from.tanhs;
  to.pows += from.pows;
  to.divisions += from.divisions;
  to.scattered_loads += from.scattered_loads;
}

double Sum(const OperationCounts& counts) {
  return counts.simple + counts.exps + counts.erfs + counts.tanhs +
         counts.pows + counts.divisions;
}

double& CountOf(Op op, OperationCounts& counts) {
  switch (op) {
    case Op::kExp:
    case Op::kLog:
    case Op::kSin:
    case Op::kCos:
      return counts.exps;
    case Op::kErf:
      return counts.erfs;
    case Op::kTanh:
    case Op::kSigmoid:
      return counts.tanhs;
    case Op::kPow:
      return counts.pows;
    case Op::kDiv:
    case Op::kSqrt:
      return counts.divisions;
    default:
      return counts.simple;
  }
}

OperationCounts Operations(const Expr& body, const VectorDims& dims) {
  OperationCounts counts;
  if (body.op() == Op::kLoad) {
    counts.scattered_loads = ScatteredLoads(body, dims);
    return counts;
  }
  if (body.op() == Op::kSelect) {
    const OperationCounts then = Operations(body.operand(1), dims),
                          otherwise = Operations(body.operand(2), dims);
    Add(Sum(then) < Sum(otherwise) ? otherwise : then, counts);
    if (dims.slides) return counts;
    Add(Operations(body.operand(0), dims), counts);
    counts.simple += 1;
    return counts;
  }
  for (const Expr& operand : body.operands())
    Add(Operations(operand, dims), counts);
  const bool leaf = body.op() == Op::kConst || body.op() == Op::kVar;
  if (!leaf && body.op() != Op::kCast) CountOf(body.op(), counts) += 1;
  return counts;
}

// Whether terms of a sum are neighbours in memory.
bool SumsAlongMemory(const Compute& compute, const VectorDims& dims) {
  bool along = false;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& load) {
      if (load.op() != Op::kLoad || load.operands().empty()) return;
      const auto input = dims.of_input.find(load.source());
      if (input == dims.of_input.end() || input->second < 0) return;
      Visit(load.operand(input->second), [&](const Expr& e) {
        along |= e.op() == Op::kVar &&
                 static_cast<size_t>(e.var_id()) >= compute.axes.size();
      });
    });
  }
  return along;
}

// Whether windows move by more than one from a result to the next.
bool SkipsBetweenWindows(const Compute& compute, int channels) {
  bool skips = false;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& load) {
      if (load.op() != Op::kLoad) return;
      for (size_t d = 0; d < load.operands().size(); ++d) {
        if (static_cast<int>(d) == channels) continue;
        Visit(load.operand(static_cast<int>(d)), [&](const Expr& product) {
          if (product.op() != Op::kMul) return;
          Visit(product, [&](const Expr& e) {
            skips |= e.op() == Op::kVar &&
                     static_cast<size_t>(e.var_id()) < compute.axes.size();
          });
        });
      }
    });
  }
  return skips;
}

int DataChannels(const TensorGraph& graph, TensorId id) {
  const std::optional<ConvolutionRoles> roles = AsConvolution(graph, id);
  return roles ? roles->data_channels : -1;
}

}  // namespace

ComputeFeatures FeaturesOf(const TensorGraph& graph, TensorId id,
                           int vector_dim, const std::vector<int>& input_dims) {
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  const ComputeFamily family = FamilyOf(graph, id);
  VectorDims dims{vector_dim, {}};
  dims.slides =
      family == ComputeFamily::kDepthwise || family == ComputeFamily::kPooling;
  if (family == ComputeFamily::kDepthwise)
    dims.channels = DataChannels(graph, id);
  const std::vector<TensorId>& inputs = graph.Inputs(id);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (graph.tensor(inputs[i]).kind != TensorKind::kConstant)
      dims.of_input[inputs[i]] = input_dims[i];
  }
  ComputeFeatures features;
  features.dtype = tensor.dtype;
  for (const Axis& axis : compute.reduce_axes)
    features.terms *= static_cast<double>(axis.extent.value());
  dims.terms = features.terms;
  dims.axes = static_cast<int>(compute.axes.size());
  if (compute.combiner) features.operations.simple = 1;
  for (const Expr& body : compute.body)
    Add(Operations(body, dims), features.operations);
  if (!compute.combiner) {
    if (Sum(features.operations) == 0)
      features.operations.scattered_loads *= kTransposed;
    return features;
  }
  switch (family) {
    case ComputeFamily::kConvolution:
    case ComputeFamily::kContraction:
      features.kind = ArithmeticKind::kContraction;
      for (const TensorId input : inputs) {
        const DType read = graph.tensor(input).dtype;
        if (SizeBytes(read) < SizeBytes(features.dtype)) features.dtype = read;
      }
      break;
    case ComputeFamily::kDepthwise:
      features.kind = SkipsBetweenWindows(compute, dims.channels)
                          ? ArithmeticKind::kStridedWindow
                          : ArithmeticKind::kWindow;
      break;
    case ComputeFamily::kPooling:
      features.kind = ArithmeticKind::kPooling;
      break;
    default:
      features.kind = ArithmeticKind::kRow;
      features.terms_are_neighbours = SumsAlongMemory(compute, dims);
      // Vectors lie along those then.
      if (features.terms_are_neighbours)
        features.operations.scattered_loads = 0;
  }
  return features;
}

std::vector<bool> RowAxes(const Compute& compute, int vector_dim) {
  std::vector<bool> rows(compute.axes.size(), true);
  for (const std::vector<bool>& load : LoadedAxes(compute)) {
    if (vector_dim < 0 || !load[vector_dim]) continue;
    for (size_t d = 0; d < rows.size(); ++d) rows[d] = rows[d] && !load[d];
  }
  return rows;
}

std::vector<bool> LaneAxes(const Compute& compute) {
  std::vector<bool> lanes(compute.axes.size(), false);
  for (const std::vector<bool>& load : LoadedAxes(compute)) {
    for (size_t d = 0; d < lanes.size(); ++d) lanes[d] = lanes[d] || !load[d];
  }
  return lanes;
}

}  // namespace tilewright
