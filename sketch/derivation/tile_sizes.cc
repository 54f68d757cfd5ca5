#include "sketch/derivation/tile_sizes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "sketch/rules/shared/output_tiles.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// Preferred, where nothing is known of the registers.
constexpr int64_t kVectors = 2, kRows = 4, kReduceSteps = 16;

// Whether neighbours along the axis lie side by side, or are used again, in
// everything that the compute reads.
bool SuitsVectors(const Workload& workload, TensorId id, int axis) {
  const TensorGraph& graph = workload.graph;
  bool suits = true;
  for (const Expr& body : graph.tensor(id).compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || !Mentions(e, axis)) return;
      const int side_by_side = FindContiguous(workload, e.source()).dim;
      suits &= side_by_side >= 0 && Mentions(e.operand(side_by_side), axis);
    });
  }
  return suits;
}

// Whether parts that divide an extent leave a choice: tails cost more than a
// part of another size gains.
bool HasDivisors(int64_t extent) {
  constexpr int kEnough = 4;
  int divisors = 0;
  for (int64_t d = 1; d <= std::min(extent, kMostInnermost); ++d)
    divisors += extent % d == 0 ? 1 : 0;
  return divisors >= kEnough;
}

// The tensor that leaves the group, whose elements are those of `id` one by
// one; `id` itself if there is none.
TensorId StoredAs(const Workload& workload, TensorId id) {
  const TensorGraph& graph = workload.graph;
  const auto& consumers = graph.Consumers();
  const absl::Span<const TensorId> outputs = graph.outputs();
  TensorId at = id;
  while (std::find(outputs.begin(), outputs.end(), at) == outputs.end()) {
    const auto next = std::find_if(
        consumers[at].begin(), consumers[at].end(),
        [&](TensorId c) { return ReadsElementwise(graph, c, at); });
    if (next == consumers[at].end()) return id;
    at = *next;
  }
  return at;
}

class Chooser {
 public:
  Chooser(Derivation& derivation, const TileProblem& problem, bool tails)
      : derivation_(derivation),
        problem_(problem),
        tails_(tails && derivation.style().tails),
        workload_(derivation.state().workload()),
        compute_(workload_.graph.tensor(problem.id).compute),
        prefix_(Derivation::NameOf(problem.block)),
        lanes_(Lanes(workload_.graph, derivation.state().spec())) {
    sizes_.order = AxesInOrder(workload_, problem);
    if (sizes_.order.empty()) return;
    vector_ = sizes_.order.back();
    for (size_t i = 0; i + 1 < sizes_.order.size(); ++i) {
      if (problem.spatial[sizes_.order[i]] > 1) row_ = sizes_.order[i];
    }
  }

  TileSizes Tiles() && {
    if (derivation_.style().fit_vectors && vector_ >= 0) {
      FitRegisters();
    } else {
      for (size_t i = 0; i < problem_.spatial.size(); ++i) {
        const int axis = static_cast<int>(i);
        const int64_t innermost = axis == vector_ ? kVectors * lanes_
                                  : axis == row_  ? kRows
                                                  : 1;
        sizes_.spatial.push_back(Decide(SpatialName(i), problem_.spatial[i],
                                        kSpatialLevels, innermost,
                                        kMostInnermost, Bits::kSame));
      }
    }
    int reducing = 0;
    for (const int64_t extent : problem_.reduce) reducing += extent > 1 ? 1 : 0;
    for (size_t r = 0; r < problem_.reduce.size(); ++r) {
      sizes_.reduce.push_back(
          Decide(compute_.reduce_axes[r].name, problem_.reduce[r],
                 kReduceLevels, kReduceSteps, kMostInnermost,
                 reducing > 1 ? Bits::kMayChange : Bits::kSame, kReduceSteps));
    }
    return std::move(sizes_);
  }

  TileSizes SimpleTiles() && {
    for (size_t i = 0; i < problem_.spatial.size(); ++i) {
      const int axis = static_cast<int>(i);
      const bool vectors =
          axis == vector_ && SuitsVectors(workload_, problem_.id, axis);
      sizes_.spatial.push_back(Decide(SpatialName(i), problem_.spatial[i], 2,
                                      vectors ? kVectors * lanes_ : 1,
                                      kMostInnermost, Bits::kSame));
    }
    return std::move(sizes_);
  }

 private:
  std::string SpatialName(size_t i) const { return compute_.axes[i].name; }

  Factors Decide(const std::string& axis, int64_t extent, int parts,
                 int64_t innermost, int64_t cap, Bits bits,
                 int64_t longest_without_tails = 0) {
    SplitSpace split;
    split.extent = extent;
    split.parts = parts;
    split.innermost_cap = cap;
    split.tails =
        tails_ && extent > longest_without_tails && !HasDivisors(extent);
    const Space space = Space::Split(split);
    Factors wanted(parts, 1);
    wanted.back() = std::min(innermost, extent);
    return derivation_.decider().Decide(
        absl::StrCat(prefix_, ".tile.", axis), space,
        [&] { return space.Nearest(wanted); }, bits);
  }

  // Whole vectors × rows innermost. What covers the axes so is in three parts,
  // the last of them within the outer steps of the sums, or in two around all
  // of their steps: a tile's sums then stay in registers to their end.
  void FitRegisters() {
    derivation_.TileWhole(problem_.block);
    const int64_t registers = std::max<int64_t>(
        4, derivation_.state().spec().unit().vector_registers());
    const int64_t vectors = CeilDiv(problem_.spatial[vector_], lanes_);
    const int64_t rows = row_ < 0 ? 1 : problem_.spatial[row_];
    const auto admits = [registers](const DecisionValue& value) {
      return value[0] * value[1] + value[0] + 1 <= registers ||
             (value[0] == 1 && value[1] == 1);
    };
    const int64_t most_vectors = std::min(vectors, registers / 2),
                  most_rows = std::min(rows, registers - 2);
    const DecisionValue tile = derivation_.decider().Decide(
        absl::StrCat(prefix_, ".registers"),
        Space::Composite({{"vectors", Space::Integers(1, most_vectors)},
                          {"rows", Space::Integers(1, most_rows)}},
                         admits),
        [&] {
          // About as many rows as all but two registers give.
          const int64_t v = std::min(kVectors, most_vectors);
          return DecisionValue{
              v, std::max<int64_t>(
                     1, std::min(most_rows, (registers - v - 2) / v))};
        });
    const bool in_registers =
        derivation_.decider().DecideNumber(
            absl::StrCat(prefix_, ".sums"),
            Space::OneOf({"registers", "scratch"}), [] { return 0; }) == 0;
    for (size_t i = 0; i < problem_.spatial.size(); ++i) {
      const int axis = static_cast<int>(i);
      const int64_t extent = problem_.spatial[i];
      const int64_t innermost =
          std::min(extent, axis == vector_ ? tile[0] * lanes_
                           : axis == row_  ? tile[1]
                                           : 1);
      Factors factors =
          Decide(SpatialName(i), CeilDiv(extent, innermost),
                 kSpatialLevels - (in_registers ? 2 : 1), 1, 0, Bits::kSame);
      if (in_registers) factors.push_back(1);
      factors.push_back(innermost);
      sizes_.spatial.push_back(std::move(factors));
    }
  }

  Derivation& derivation_;
  const TileProblem& problem_;
  const bool tails_;
  const Workload& workload_;
  const Compute& compute_;
  const std::string prefix_;
  const int64_t lanes_;
  int vector_ = -1, row_ = -1;
  TileSizes sizes_;
};

}  // namespace

std::vector<int> AxesInOrder(const Workload& workload,
                             const TileProblem& problem) {
  const auto axes = static_cast<int>(problem.spatial.size());
  std::vector<int> order;
  if (axes == 0) return order;
  int vector = FindContiguous(workload, StoredAs(workload, problem.id)).dim;
  if (vector < 0 || problem.spatial[vector] == 1) vector = axes - 1;
  for (int axis = 0; axis < axes; ++axis) {
    if (axis != vector) order.push_back(axis);
  }
  order.push_back(vector);
  return order;
}

TileSizes DecideTiles(Derivation& derivation, const TileProblem& problem) {
  if (derivation.style().sizes) {
    std::optional<TileSizes> sizes =
        derivation.style().sizes(derivation, problem);
    if (sizes) return *std::move(sizes);
  }
  return Chooser(derivation, problem, true).Tiles();
}

TileSizes DecideSimpleTiles(Derivation& derivation, const TileProblem& problem,
                            bool tails) {
  if (derivation.style().simple_sizes) {
    std::optional<TileSizes> sizes =
        derivation.style().simple_sizes(derivation, problem);
    if (sizes) return *std::move(sizes);
  }
  return Chooser(derivation, problem, tails).SimpleTiles();
}

Factors FitFactors(int64_t extent, const Factors& factors) {
  Factors fitted(factors.size(), 1);
  int64_t rest = extent;
  for (size_t i = factors.size(); i-- > 1;) {
    fitted[i] = std::min(factors[i], rest);
    rest = CeilDiv(rest, fitted[i]);
  }
  fitted[0] = rest;
  return fitted;
}

std::vector<Handle> LevelsOf(const LoopParts& parts,
                             const std::vector<int>& order, size_t first,
                             size_t last) {
  std::vector<Handle> loops;
  for (size_t level = first; level <= last; ++level) {
    for (const int axis : order) loops.push_back(parts[axis][level]);
  }
  return loops;
}

std::vector<Handle> LevelOf(const LoopParts& parts, size_t level) {
  std::vector<Handle> loops;
  for (const std::vector<Handle>& of_axis : parts)
    loops.push_back(of_axis[level]);
  return loops;
}

}  // namespace tilewright::sketch
