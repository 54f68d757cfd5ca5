#include "measure/inputs/hard_inputs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "measure/inputs/selected_loads.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/operations.h"

namespace tilewright::measure {
namespace {

bool TakesLargest(const Tensor& tensor) {
  const std::optional<Combiner>& combiner = tensor.compute.combiner;
  return combiner && (combiner->kind() == Combiner::Kind::kMax ||
                      combiner->kind() == Combiner::Kind::kMaxSumExp);
}

// Floats that a body loads: computed ones, or inputs.
std::vector<TensorId> FloatsOf(const TensorGraph& graph, const Tensor& tensor,
                               bool computed) {
  std::vector<TensorId> sources;
  Visit(tensor.compute.body[0], [&](const Expr& e) {
    if (e.op() == Op::kLoad && IsFloat(e.dtype()) &&
        (graph.tensor(e.source()).kind == TensorKind::kCompute) == computed)
      sources.push_back(e.source());
  });
  return sources;
}

// Sums over fewer points can be evaluated often.
bool IsSmall(const TensorGraph& graph) {
  constexpr int64_t kSmallPoints = int64_t{1} << 16;
  int64_t points = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) points += Points(tensor);
  }
  return points <= kSmallPoints;
}

// A dimension of an input.
struct Factor {
  TensorId input = -1;
  size_t dim = 0;
};

// Along which an axis of `tensor` reads one of its floats; none: input -1.
Factor FactorAlong(const TensorGraph& graph, const Tensor& tensor, int axis) {
  Factor factor;
  const auto look = [&](const Expr& e) {
    if (e.op() != Op::kLoad || !IsFloat(e.dtype()) || factor.input >= 0) return;
    for (size_t d = 0; d < e.operands().size(); ++d) {
      const Expr& index = e.operand(static_cast<int>(d));
      if (index.op() != Op::kVar || index.var_id() != axis) continue;
      const Tensor& source = graph.tensor(e.source());
      factor = source.kind == TensorKind::kCompute
                   ? FactorAlong(graph, source, static_cast<int>(d))
                   : Factor{e.source(), d};
      return;
    }
  };
  Visit(tensor.compute.body[0], look);
  return factor;
}

struct Rows {
  Factor factor;
  int64_t steps = 0;
};

// Computed rows that are reduced to their largest value along one axis.
std::vector<Rows> ComputedRows(const TensorGraph& graph) {
  std::vector<Rows> rows;
  for (const Tensor& tensor : graph.tensors()) {
    const Compute& compute = tensor.compute;
    if (!TakesLargest(tensor) || compute.reduce_axes.size() != 1 ||
        FloatsOf(graph, tensor, true).empty())
      continue;
    const Factor factor =
        FactorAlong(graph, tensor, static_cast<int>(compute.axes.size()));
    if (factor.input >= 0) rows.push_back({factor, TermsOf(compute)});
  }
  return rows;
}

// The values among which a winner is chosen are unit normals, at times scaled
// by an eighth of this factor: with 15,000 the winner overflows in 95 of 100
// rows, with 1,500 in 62. fp16 overflows sooner.
double FactorOfWinner(const TensorGraph& graph) {
  const bool half =
      std::any_of(graph.tensors().begin(), graph.tensors().end(),
                  [](const Tensor& t) { return t.dtype == DType::kFloat16; });
  return (half ? 10 : 100) * kOverflowMargin;
}

}  // namespace

bool SelectsFloats(const TensorGraph& graph) {
  bool selects = false;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner)
      continue;
    if (Direction(tensor.compute) == 0 ||
        tensor.compute.combiner->kind() == Combiner::Kind::kMaxSumExp)
      return false;
    selects = selects || (!SelectedLoads(graph, tensor).empty() &&
                          IsFloat(tensor.compute.combiner->acc()));
  }
  return selects;
}

int NumSpecialTurns(const TensorGraph& graph) {
  if (!SelectsFloats(graph)) return 0;
  int64_t steps = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (!SelectedLoads(graph, tensor).empty())
      steps = std::max(steps, TermsOf(tensor.compute));
  }
  return 1 + 2 * static_cast<int>(
                     std::min<int64_t>(steps, IsSmall(graph) ? 64 : 1));
}

void PlantInfinitiesAndNans(const TensorGraph& graph, int turn, Random& random,
                            InputSet& set) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Tensor& tensor : graph.tensors()) {
    const Compute& compute = tensor.compute;
    for (const Expr& load : SelectedLoads(graph, tensor)) {
      if (!IsFloat(load.dtype())) continue;
      HostTensor& values = set.at(load.source());
      const int64_t steps = TermsOf(compute);
      const double wins =
          Direction(compute) * std::numeric_limits<double>::infinity();
      int64_t output = 0;
      ForEachOutput(compute, [&](std::vector<int64_t>& axes) {
        const auto put = [&](int64_t step, double value) {
          SetStep(compute, step, axes);
          const int64_t at = PositionOf(load, values.shape(), axes);
          if (at >= 0) values.Set(at, {value, 0});
        };
        if (turn == 0) {
          for (int64_t step = 0; step < steps; ++step) put(step, -wins);
          return;
        }
        if (turn % 2 == 0) {
          put(random.UniformInt(0, steps - 1), wins);
          put(random.UniformInt(0, steps - 1), nan);
        }
        put((output++ + turn / 2) % steps, nan);
      });
    }
  }
}

int NumWideTurns(const TensorGraph& graph) {
  if (!HasExponential(graph)) return 0;
  int64_t steps = 0;
  for (const Rows& rows : ComputedRows(graph))
    steps = std::max(steps, rows.steps);
  if (steps == 0) return 0;
  return 2 + 2 * static_cast<int>(
                     std::min<int64_t>(steps, IsSmall(graph) ? 32 : 1));
}

void WidenRows(const TensorGraph& graph, int turn, Random& random,
               InputSet& set) {
  // The last two turns are of rows that are far from zero as a whole.
  const int64_t apart = NumWideTurns(graph) / 2 - 1;
  const double sign = turn % 2 == 0 ? 1 : -1,
               apart_by = sign * 40 * kOverflowMargin,
               wins_by = sign * FactorOfWinner(graph);
  for (const Rows& rows : ComputedRows(graph)) {
    HostTensor& values = set.at(rows.factor.input);
    const std::vector<int64_t>& shape = values.shape();
    int64_t inner = 1;
    for (size_t d = rows.factor.dim + 1; d < shape.size(); ++d)
      inner *= shape[d];
    const int64_t extent = shape[rows.factor.dim];
    const HostTensor before = values;
    std::vector<double> signs(static_cast<size_t>(extent), 1);
    for (double& one : signs) {
      if (apart < extent && random.Bernoulli(0.5)) one = -1;
    }
    for (int64_t k = 0; k < values.num_elements(); ++k) {
      const int64_t step = k / inner % extent;
      double value = before.Get(k).f;
      if (turn / 2 == apart) {
        value += apart_by * before.Get(k - step * inner).f;
      } else if (step % apart == turn / 2) {
        value *= wins_by * signs[static_cast<size_t>(step)];
      }
      values.Set(k, {value, 0});
    }
  }
}

bool ClampsIndices(const TensorGraph& graph) {
  if (IndexExtents(graph).empty()) return false;
  bool clamps = true;
  for (const Tensor& tensor : graph.tensors()) {
    const Compute& compute = tensor.compute;
    const auto range = [&](int axis) -> std::optional<Range> {
      const size_t spatial = compute.axes.size();
      const size_t at = static_cast<size_t>(axis);
      const Axis& of =
          at < spatial ? compute.axes[at] : compute.reduce_axes[at - spatial];
      return Range{0, of.extent.value() - 1};
    };
    const auto look = [&](const Expr& e) {
      if (e.op() != Op::kLoad) return;
      for (size_t d = 0; d < e.operands().size(); ++d) {
        const Expr& index = e.operand(static_cast<int>(d));
        bool data = false;
        Visit(index,
              [&](const Expr& part) { data = data || part.op() == Op::kLoad; });
        if (!data) continue;
        const std::optional<Range> found = RangeOfExpr(index, range);
        clamps = clamps && found && found->min >= 0 &&
                 found->max < graph.tensor(e.source()).shape[d].value();
      }
    };
    for (const Expr& body : compute.body) Visit(body, look);
  }
  return clamps;
}

void PlantIndicesOutOfRange(const TensorGraph& graph, Random& random,
                            InputSet& set) {
  for (const auto& [id, extent] : IndexExtents(graph)) {
    if (graph.tensor(id).kind != TensorKind::kPlaceholder) continue;
    HostTensor& indices = set.at(id);
    for (int64_t k = 0; k < indices.num_elements(); ++k) {
      const int64_t choices[] = {extent,
                                 -1,
                                 -extent,
                                 -extent - 1,
                                 extent - 1,
                                 random.UniformInt(extent, 3 * extent),
                                 -random.UniformInt(1, 3 * extent)};
      const int64_t index = choices[k % 7];
      indices.Set(k, {static_cast<double>(index), index});
    }
  }
}

}  // namespace tilewright::measure
