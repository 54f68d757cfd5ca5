#include "measure/planted_picks.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tilegraph/interpreter.h"

namespace tilewright::measure {
namespace {

// The value of an index under given axes; nullopt if it depends on data.
std::optional<int64_t> EvaluateIndex(const Expr& e,
                                     const std::vector<int64_t>& axes) {
  if (e.op() == Op::kConst) return e.int_value();
  if (e.op() == Op::kVar) return axes[e.var_id()];
  if (e.op() == Op::kLoad || IsFloat(e.dtype())) return std::nullopt;
  std::vector<Scalar> operands;
  for (const Expr& operand : e.operands()) {
    const std::optional<int64_t> value = EvaluateIndex(operand, axes);
    if (!value) return std::nullopt;
    operands.push_back({0, *value});
  }
  return EvaluateOp(e.op(), e.dtype(), e.operands().back().dtype(), operands,
                    false)
      .i;
}

// 1 if the largest wins, -1 if the smallest does, 0 if nothing is selected.
int Direction(const Compute& compute) {
  if (!compute.combiner) return 0;
  switch (compute.combiner->kind()) {
    case Combiner::Kind::kMax:
    case Combiner::Kind::kArgMax:
    case Combiner::Kind::kMaxSumExp:
      return 1;
    case Combiner::Kind::kMin:
    case Combiner::Kind::kArgMin:
      return -1;
    default:
      return 0;
  }
}

int64_t StepsOf(const Compute& compute) {
  int64_t steps = 1;
  for (const Axis& axis : compute.reduce_axes) steps *= axis.extent.value();
  return steps;
}

// Loads of leaves among which `tensor` selects.
std::vector<Expr> SelectedLoads(const TensorGraph& graph,
                                const Tensor& tensor) {
  std::vector<Expr> loads;
  if (tensor.kind != TensorKind::kCompute || Direction(tensor.compute) == 0)
    return loads;
  Visit(tensor.compute.body[0], [&](const Expr& e) {
    const bool leaf = e.op() == Op::kLoad &&
                      graph.tensor(e.source()).kind != TensorKind::kCompute;
    if (leaf && e.dtype() == tensor.compute.body[0].dtype()) loads.push_back(e);
  });
  return loads;
}

// The step at which output number `output` wins.
int64_t WinningStep(int64_t steps, int64_t output, int turn, int num_turns,
                    Random& random) {
  if (steps <= num_turns) return (output + turn) % steps;
  const int64_t choices[] = {0, 1, steps - 1, random.UniformInt(0, steps - 1)};
  return turn < 4 ? choices[(output + turn) % 4] : choices[3];
}

// Sets the reduce axes to step number `step`.
void SetStep(const Compute& compute, int64_t step, std::vector<int64_t>& axes) {
  for (size_t r = compute.reduce_axes.size(); r-- > 0;) {
    axes[compute.axes.size() + r] =
        step % compute.reduce_axes[r].extent.value();
    step /= compute.reduce_axes[r].extent.value();
  }
}

// Where `load` reads at these axes, row-major in its source; -1 for padding and
// what depends on data.
int64_t PositionOf(const Expr& load, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& axes) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::optional<int64_t> index =
        EvaluateIndex(load.operand(static_cast<int>(d)), axes);
    if (!index || *index < 0 || *index >= shape[d]) return -1;
    at = at * shape[d] + *index;
  }
  return at;
}

// The next output in row-major order; false after the last.
bool Advance(const Compute& compute, std::vector<int64_t>& axes) {
  for (size_t d = compute.axes.size(); d-- > 0;) {
    if (++axes[d] < compute.axes[d].extent.value()) return true;
    axes[d] = 0;
  }
  return false;
}

void PlantOne(const Compute& compute, const Expr& load, int turn, int num_turns,
              double margin, Random& random, HostTensor& values) {
  const int64_t steps = StepsOf(compute);
  const bool ties = turn % 2 == 1 && compute.combiner->arity() == 2 &&
                    compute.combiner->kind() != Combiner::Kind::kMaxSumExp;
  std::vector<int64_t> axes(compute.axes.size() + compute.reduce_axes.size(),
                            0);
  int64_t output = 0;
  for (bool more = true; more; ++output) {
    const int64_t step = WinningStep(steps, output, turn, num_turns, random),
                  other = random.UniformInt(step, steps - 1);
    const double raise = Direction(compute) * margin *
                         static_cast<double>(random.UniformInt(1, 4));
    SetStep(compute, step, axes);
    if (const int64_t at = PositionOf(load, values.shape(), axes); at >= 0) {
      Scalar value = values.Get(at);
      value.f += raise;
      value.i += static_cast<int64_t>(raise);
      values.Set(at, value);
      SetStep(compute, other, axes);
      if (const int64_t tie = PositionOf(load, values.shape(), axes);
          ties && tie >= 0)
        values.Set(tie, value);
    }
    more = Advance(compute, axes);
  }
}

void PlantRamp(const Compute& compute, const Expr& load, double slope,
               HostTensor& values) {
  constexpr int64_t kPeriod = 1024;  // so that integers stay small
  const int64_t steps = StepsOf(compute);
  const HostTensor before = values;
  std::vector<int64_t> axes(compute.axes.size() + compute.reduce_axes.size(),
                            0);
  int64_t output = 0;
  for (bool more = true; more; ++output) {
    const double raise = slope * static_cast<double>(output % kPeriod);
    for (int64_t step = 0; step < steps; ++step) {
      SetStep(compute, step, axes);
      const int64_t at = PositionOf(load, values.shape(), axes);
      if (at < 0) continue;
      const Scalar value = before.Get(at);
      values.Set(at, {value.f + raise, value.i + static_cast<int64_t>(raise)});
    }
    more = Advance(compute, axes);
  }
}

// Turns in which single winners are planted; two more follow, with ramps.
int WinnerTurns(const TensorGraph& graph) {
  constexpr int64_t kMaxTurns = 16, kMaxTurnsIfSmall = 64,
                    kSmallPoints = int64_t{1} << 16;
  int64_t turns = 0, points = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute)
      points += tensor.num_elements() * StepsOf(tensor.compute);
  }
  for (const Tensor& tensor : graph.tensors()) {
    if (SelectedLoads(graph, tensor).empty()) continue;
    turns = std::max(
        turns, std::min(points <= kSmallPoints ? kMaxTurnsIfSmall : kMaxTurns,
                        StepsOf(tensor.compute)));
  }
  return static_cast<int>(turns);
}

}  // namespace

int NumTurns(const TensorGraph& graph) {
  const int winners = WinnerTurns(graph);
  return std::max(winners == 0 ? 0 : winners + 2,
                  IndexExtents(graph).empty() ? 0 : 2);
}

void PlantPicks(const TensorGraph& graph, int turn, double margin,
                Random& random, InputSet& set) {
  const int winners = WinnerTurns(graph);
  for (const Tensor& tensor : graph.tensors()) {
    for (const Expr& load : SelectedLoads(graph, tensor)) {
      HostTensor& values = set.at(load.source());
      if (turn < winners) {
        PlantOne(tensor.compute, load, turn, winners, margin, random, values);
      } else {
        PlantRamp(tensor.compute, load, turn == winners ? margin : -margin,
                  values);
      }
    }
  }
  if (turn > 1) return;
  for (const auto& [id, extent] : IndexExtents(graph)) {
    if (graph.tensor(id).kind != TensorKind::kPlaceholder) continue;
    HostTensor& indices = set.at(id);
    const int64_t index = turn == 0 ? extent - 1 : 0;
    for (int64_t k = 0; k < indices.num_elements(); ++k)
      indices.Set(k, {static_cast<double>(index), index});
  }
}

}  // namespace tilewright::measure
