#include "measure/inputs/adversarial_selections.h"

#include <algorithm>
#include <vector>

#include "measure/inputs/selected_loads.h"
#include "tilegraph/ir/operations.h"

namespace tilewright::measure {
namespace {

// The step at which output number `output` wins.
int64_t WinningStep(int64_t steps, int64_t output, int turn, int num_turns,
                    Random& random) {
  if (steps <= num_turns) return (output + turn) % steps;
  const int64_t choices[] = {0, 1, steps - 1, random.UniformInt(0, steps - 1)};
  return turn < 4 ? choices[(output + turn) % 4] : choices[3];
}

void PlantOne(const Compute& compute, const Expr& load, int turn, int num_turns,
              double margin, bool exponential, Random& random,
              HostTensor& values) {
  const int64_t steps = TermsOf(compute);
  const bool ties = turn % 2 == 1 && compute.combiner->arity() == 2 &&
                    compute.combiner->kind() != Combiner::Kind::kMaxSumExp;
  int64_t output = 0;
  ForEachOutput(compute, [&](std::vector<int64_t>& axes) {
    const int64_t step = WinningStep(steps, output, turn, num_turns, random),
                  other = random.UniformInt(step, steps - 1);
    const int64_t times = random.UniformInt(1, 4);
    const double raise =
        Direction(compute) * (exponential && times < 4
                                  ? kSmallOverflowMargin
                                  : margin * static_cast<double>(times));
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
    ++output;
  });
}

void PlantRamp(const Compute& compute, const Expr& load, double slope,
               HostTensor& values) {
  constexpr int64_t kPeriod = 1024;  // so that integers stay small
  const int64_t steps = TermsOf(compute);
  const HostTensor before = values;
  int64_t output = 0;
  ForEachOutput(compute, [&](std::vector<int64_t>& axes) {
    const double raise = slope * static_cast<double>(output % kPeriod);
    for (int64_t step = 0; step < steps; ++step) {
      SetStep(compute, step, axes);
      const int64_t at = PositionOf(load, values.shape(), axes);
      if (at < 0) continue;
      const Scalar value = before.Get(at);
      values.Set(at, {value.f + raise, value.i + static_cast<int64_t>(raise)});
    }
    ++output;
  });
}

// Turns in which single winners are planted; two more follow, with ramps.
int WinnerTurns(const TensorGraph& graph) {
  constexpr int64_t kMaxTurns = 16, kMaxTurnsIfSmall = 64,
                    kSmallPoints = int64_t{1} << 16;
  int64_t turns = 0, points = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) points += Points(tensor);
  }
  for (const Tensor& tensor : graph.tensors()) {
    if (SelectedLoads(graph, tensor).empty()) continue;
    turns = std::max(
        turns, std::min(points <= kSmallPoints ? kMaxTurnsIfSmall : kMaxTurns,
                        TermsOf(tensor.compute)));
  }
  return static_cast<int>(turns);
}

}  // namespace

int NumTurns(const TensorGraph& graph) {
  const int winners = WinnerTurns(graph);
  return std::max(winners == 0 ? 0 : winners + 2,
                  IndexExtents(graph).empty() ? 0 : 2);
}

void PlaceSelections(const TensorGraph& graph, int turn, double margin,
                     Random& random, InputSet& set) {
  const int winners = WinnerTurns(graph);
  for (const Tensor& tensor : graph.tensors()) {
    for (const Expr& load : SelectedLoads(graph, tensor)) {
      HostTensor& values = set.at(load.source());
      if (turn < winners) {
        PlantOne(tensor.compute, load, turn, winners, margin,
                 HasExponential(graph), random, values);
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
