#include "tilegraph/testing/random_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "tilegraph/testing/random_graph_builder.h"

namespace tilewright {
namespace {

double BoundOfConstant(const HostTensor& value) {
  double bound = 0;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const Scalar element = value.Get(i);
    bound = std::max(bound, std::fabs(IsFloat(value.dtype())
                                          ? element.f
                                          : static_cast<double>(element.i)));
  }
  return bound;
}

// Bounds of the expressions of one compute, given those of the tensors it
// loads. `largest` sees every one of them.
class BodyBound {
 public:
  BodyBound(const Compute& compute, const std::vector<double>& tensors,
            double* largest)
      : compute_(compute), tensors_(tensors), largest_(largest) {}

  double Of(const Expr& expr) {
    const double bound = BoundOf(expr);
    *largest_ = std::max(*largest_, bound);
    return bound;
  }

 private:
  double BoundOf(const Expr& expr) {
    const auto operand = [&](int i) { return Of(expr.operand(i)); };
    switch (expr.op()) {
      case Op::kConst:
        if (!IsFloat(expr.dtype()))
          return std::fabs(static_cast<double>(expr.int_value()));
        return std::isfinite(expr.float_value()) ? std::fabs(expr.float_value())
                                                 : 0;  // Infinities are exact.
      case Op::kVar: {
        const int axis = expr.var_id(),
                  spatial = static_cast<int>(compute_.axes.size());
        return static_cast<double>((axis < spatial
                                        ? compute_.axes[axis]
                                        : compute_.reduce_axes[axis - spatial])
                                       .extent.max());
      }
      case Op::kLoad:
        return tensors_[expr.source()];
      case Op::kAdd:
      case Op::kSub:
        return operand(0) + operand(1);
      case Op::kMul:
        return operand(0) * operand(1);
      case Op::kMax:
      case Op::kMin:
        return std::max(operand(0), operand(1));
      case Op::kSelect:
        return std::max(operand(1), operand(2));
      case Op::kExp:
        return std::exp(operand(0));
      case Op::kNeg:
      case Op::kAbs:
      case Op::kCast:
        return operand(0);
      case Op::kEq:
      case Op::kNe:
      case Op::kLt:
      case Op::kLe:
      case Op::kGt:
      case Op::kGe:
        return 1;
      default:
        return std::max(1.0, operand(0));  // sqrt, tanh, sigmoid, rounding.
    }
  }

  const Compute& compute_;
  const std::vector<double>& tensors_;
  double* const largest_;
};

// Largest magnitude below which every integer is exact in `dtype`; integers
// wrap and are exact anyway.
double ExactLimit(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p11;
    case DType::kBFloat16:
      return 0x1p8;
    case DType::kFloat32:
      return 0x1p24;
    case DType::kFloat64:
      return 0x1p53;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

double ExactLimit(const TensorGraph& graph) {
  double limit = std::numeric_limits<double>::infinity();
  for (const Tensor& tensor : graph.tensors())
    limit = std::min(limit, ExactLimit(tensor.dtype));
  return limit;
}

bool ExactFor(const TensorGraph& graph, double input) {
  return MagnitudeBound(graph, input) <= ExactLimit(graph);
}

}  // namespace

std::string Name(ComputeKind kind) {
  constexpr const char* kNames[kComputeKinds] = {
      "unary", "reduce", "pool",   "conv",   "transpose", "split",
      "merge", "window", "binary", "matmul", "concat"};
  return kNames[static_cast<int>(kind)];
}

bool TakesTwo(ComputeKind kind) { return kind >= ComputeKind::kBinary; }

std::vector<GraphShape> AllTopologies(int max_computes) {
  TW_CHECK(max_computes >= 1 && max_computes <= 3)
      << "topologies of " << max_computes << " computes";
  std::vector<GraphShape> result;
  result.push_back({{{}}, {}});
  if (max_computes >= 2) {
    result.push_back({{{}, {}}, {}});
    result.push_back({{{}, {0}}, {}});
  }
  if (max_computes >= 3) {
    for (const std::vector<int>& second : {std::vector<int>{}, {0}}) {
      for (const std::vector<int>& third :
           {std::vector<int>{}, {0}, {1}, {0, 1}}) {
        result.push_back({{{}, second, third}, {}});
      }
    }
  }
  return result;
}

std::vector<GraphShape> AllGraphShapes(int max_computes) {
  std::vector<GraphShape> result;
  for (const GraphShape& topology : AllTopologies(max_computes)) {
    std::vector<GraphShape> partial = {topology};
    for (const std::vector<int>& reads : topology.reads) {
      std::vector<GraphShape> longer;
      for (const GraphShape& shape : partial) {
        for (int kind = 0; kind < kComputeKinds; ++kind) {
          if (reads.size() > 1 && !TakesTwo(static_cast<ComputeKind>(kind)))
            continue;
          longer.push_back(shape);
          longer.back().kinds.push_back(static_cast<ComputeKind>(kind));
        }
      }
      partial = std::move(longer);
    }
    result.insert(result.end(), partial.begin(), partial.end());
  }
  return result;
}

GraphShape RandomChain(uint64_t seed, int computes, double moves) {
  constexpr ComputeKind kMoves[] = {
      ComputeKind::kTranspose, ComputeKind::kSplit,  ComputeKind::kMerge,
      ComputeKind::kWindow,    ComputeKind::kWindow, ComputeKind::kConcat};
  Random random(seed);
  GraphShape shape;
  for (int i = 0; i < computes; ++i) {
    const ComputeKind kind =
        random.Bernoulli(moves)
            ? kMoves[random.Index(std::size(kMoves))]
            : static_cast<ComputeKind>(random.Index(kComputeKinds));
    std::vector<int> reads;
    const auto recent = [&] {
      return static_cast<int>(random.UniformInt(std::max(0, i - 3), i - 1));
    };
    if (i > 0) reads.push_back(random.Bernoulli(0.6) ? i - 1 : recent());
    if (i > 1 && TakesTwo(kind) && random.Bernoulli(0.6)) {
      const int other = recent();
      if (other != reads[0]) reads.push_back(other);
    }
    shape.reads.push_back(std::move(reads));
    shape.kinds.push_back(kind);
  }
  return shape;
}

TensorGraph BuildGraph(const GraphShape& shape, uint64_t seed,
                       const RandomGraphOptions& options) {
  TW_CHECK_EQ(shape.reads.size(), shape.kinds.size()) << "one kind per compute";
  // Drawn again while values may grow too large to stay exact; small extents
  // make that end soon.
  for (Random seeds(seed);;) {
    TensorGraph graph = RandomGraphBuilder(seeds.Next(), options).Run(shape);
    if (!options.exact_only || ExactFor(graph, 1)) return graph;
  }
}

TensorGraph RandomGraph(uint64_t seed, const RandomGraphOptions& options) {
  Random random(seed);
  const std::vector<GraphShape> topologies =
      AllTopologies(options.max_computes);
  GraphShape shape = topologies[random.Index(topologies.size())];
  for (const std::vector<int>& reads : shape.reads) {
    ComputeKind kind;
    do {
      kind = static_cast<ComputeKind>(random.Index(kComputeKinds));
    } while (reads.size() > 1 && !TakesTwo(kind));
    shape.kinds.push_back(kind);
  }
  return BuildGraph(shape, random.Next(), options);
}

double MagnitudeBound(const TensorGraph& graph, double input) {
  double largest = input;
  std::vector<double> bounds;
  for (const Tensor& tensor : graph.tensors()) {
    double bound = input;
    if (tensor.kind == TensorKind::kConstant)
      bound = BoundOfConstant(*tensor.value);
    if (tensor.kind == TensorKind::kCompute) {
      const Compute& compute = tensor.compute;
      bound =
          BodyBound(compute, bounds, &largest).Of(compute.body[compute.result]);
      double points = 1;
      for (const Axis& axis : compute.reduce_axes)
        points *= static_cast<double>(axis.extent.max());
      if (compute.combiner.has_value() &&
          compute.combiner->kind() == Combiner::Kind::kSum)
        bound *= points;
      if (compute.combiner.has_value() &&
          compute.combiner->kind() == Combiner::Kind::kProd) {
        bound = std::pow(std::max(bound, 1.0), points);
      }
    }
    largest = std::max(largest, bound);
    bounds.push_back(bound);
  }
  return largest;
}

std::map<TensorId, HostTensor> RandomInputs(const TensorGraph& graph,
                                            uint64_t seed,
                                            bool exact_integers) {
  Random random(seed);
  const int64_t most = exact_integers && !ExactFor(graph, 3) ? 1 : 3;
  std::map<TensorId, HostTensor> inputs;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const int64_t integer = random.UniformInt(-most, most);
      value.Set(i, Scalar{exact_integers ? static_cast<double>(integer)
                                         : random.Normal(),
                          integer});
    }
    inputs.emplace(tensor.id, std::move(value));
  }
  return inputs;
}

}  // namespace tilewright
